/** The examples have this origin, until the script of the page gives them its own. */
export const ORIGIN = 'http://localhost:3009'

/** The only script of the page: it copies examples, finds entries, and marks the place in sight. */
export const script = `
const all = (selector) => [...document.querySelectorAll(selector)]
const at = (id) => document.getElementById(id)
const [find, said, side] = ['find', 'said', 'side'].map(at)

for (const figure of all('figure')) {
  const code = figure.querySelector('code')
  code.textContent = code.textContent.replaceAll('${ORIGIN}', location.origin)
  const button = document.createElement('button')
  button.textContent = 'Copy'
  button.setAttribute('aria-label', 'Copy. ' + figure.querySelector('pre').getAttribute('aria-label'))
  button.addEventListener('click', async () => {
    const result = await navigator.clipboard.writeText(code.textContent).then(() => 'Copied', () => 'Not copied')
    button.textContent = said.textContent = result
    setTimeout(() => { button.textContent = 'Copy' }, 2000)
  })
  figure.firstChild.append(button)
}

const links = new Map(all('nav a').map((link) => [link.hash.slice(1), link]))
const places = all(':is(h2, h3)[id]').filter(({ id }) => links.has(id))
function mark() {
  const above = places.filter((place) => place.checkVisibility() && place.getBoundingClientRect().top < 100)
  const here = links.get(above.at(-1)?.id)
  for (const link of links.values()) link.ariaCurrent = link === here ? 'location' : null
  if (here && side.scrollHeight > side.clientHeight) here.scrollIntoView({ block: 'nearest' })
}
addEventListener('scroll', mark, { passive: true })

const parts = all('section > :not(h2)')
function search(query) {
  find.value = query
  const words = query.toLowerCase().split(/\\s+/)
  const fits = (part) => words.every((word) => part.textContent.toLowerCase().includes(word))
  for (const part of parts) part.hidden = !fits(part)
  for (const [id, link] of links) link.parentElement.hidden = !at(id).checkVisibility()
  const { length } = parts.filter(({ hidden }) => !hidden)
  said.textContent = query && (length > 0 ? length + ' found. Enter shows the first.' : 'No match. Esc clears.')
  mark()
}
search('')
find.hidden = false
find.addEventListener('input', () => search(find.value))
find.addEventListener('keydown', ({ key }) => {
  if (key !== 'Enter' || find.value === '') return
  const titles = parts.filter(({ hidden }) => !hidden).map((part) => part.querySelector('h3 a') ?? part.parentElement.querySelector('a'))
  const title = titles.find(({ text }) => text.toLowerCase().includes(find.value.toLowerCase())) ?? titles[0]
  title?.click()
  title?.focus()
})
addEventListener('keydown', (event) => {
  if (event.key === 'Escape') search('')
  if (event.key !== '/' || event.target === find) return
  event.preventDefault()
  find.focus()
})
addEventListener('hashchange', () => {
  if (!at(location.hash.slice(1))?.checkVisibility()) search('')
  at(location.hash.slice(1))?.scrollIntoView()
})
`
