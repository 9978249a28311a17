/** The only script of the page: a button on each example that copies it. */
export const script = `
for (const figure of document.querySelectorAll('.example')) {
  const text = figure.querySelector('code').textContent
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.setAttribute('aria-label', 'Copy. ' + figure.querySelector('pre').getAttribute('aria-label'))
  button.addEventListener('click', async () => {
    const said = await navigator.clipboard.writeText(text).then(() => 'Copied', () => 'Not copied')
    button.textContent = document.getElementById('said').textContent = said
    setTimeout(() => { button.textContent = 'Copy' }, 2000)
  })
  figure.querySelector('figcaption').append(button)
}
`
