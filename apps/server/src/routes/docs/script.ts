/** The only script of the page: it copies examples, chooses their language, and finds entries. */
export const script = `
const said = document.getElementById('said')

for (const figure of document.querySelectorAll('.example')) {
  const text = figure.querySelector('code').textContent
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.setAttribute('aria-label', 'Copy. ' + figure.querySelector('pre').getAttribute('aria-label'))
  button.addEventListener('click', async () => {
    const result = await navigator.clipboard.writeText(text).then(() => 'Copied', () => 'Not copied')
    button.textContent = said.textContent = result
    setTimeout(() => { button.textContent = 'Copy' }, 2000)
  })
  figure.querySelector('figcaption').append(button)
}

function speak(language) {
  document.documentElement.dataset.language = language
  for (const button of document.querySelectorAll('[data-speak]')) {
    button.setAttribute('aria-pressed', String(button.dataset.speak === language))
  }
}
for (const caption of document.querySelectorAll('.curl figcaption, .typescript figcaption')) {
  caption.firstChild.remove()
  const choice = document.createElement('span')
  for (const [language, label] of [['curl', 'curl'], ['typescript', 'TypeScript']]) {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = label
    button.dataset.speak = language
    button.addEventListener('click', () => {
      const { top } = button.getBoundingClientRect()
      speak(language)
      // The other figures change their heights; this one stays where it is.
      const same = caption.closest('.examples').querySelector('.' + language + ' [data-speak=' + language + ']')
      scrollBy({ top: same.getBoundingClientRect().top - top, behavior: 'instant' })
      same.focus({ preventScroll: true })
    })
    choice.append(button)
  }
  caption.prepend(choice)
}
speak('curl')

const nav = document.querySelector('nav')
const find = document.createElement('input')
find.type = 'search'
find.placeholder = 'Find   /'
find.setAttribute('aria-label', 'Find')
const none = document.createElement('p')
none.className = 'quiet'
none.hidden = true
nav.before(find, none)
const sections = [...document.querySelectorAll('main section')]
const texts = new Map()
for (const part of [...document.querySelectorAll('.entry'), ...sections]) {
  texts.set(part, part.textContent.toLowerCase())
}
const isHidden = (hash) => document.getElementById(hash.slice(1))?.closest('[hidden]') != null
function clear() {
  find.value = ''
  find.dispatchEvent(new Event('input'))
}
find.addEventListener('input', () => {
  const words = find.value.toLowerCase().split(/\\s+/)
  const fits = (part) => words.every((word) => texts.get(part).includes(word))
  let count = 0
  for (const section of sections) {
    const entries = [...section.querySelectorAll('.entry')]
    for (const entry of entries) entry.hidden = !fits(entry)
    const shown = entries.filter((entry) => !entry.hidden).length
    section.hidden = entries.length > 0 ? shown === 0 : !fits(section)
    count += entries.length > 0 ? shown : Number(!section.hidden)
  }
  for (const link of nav.querySelectorAll('a')) {
    link.parentElement.hidden = isHidden(link.hash)
  }
  none.hidden = count > 0
  none.textContent = 'No match. Esc clears.'
  said.textContent = count + (count === 1 ? ' entry' : ' entries')
})
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && event.target !== find) {
    event.preventDefault()
    find.focus()
  } else if (event.key === 'Escape') clear()
})
addEventListener('hashchange', () => {
  if (!isHidden(location.hash)) return
  clear()
  document.getElementById(location.hash.slice(1)).scrollIntoView()
})
`
