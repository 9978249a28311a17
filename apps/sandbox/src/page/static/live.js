/**
 * Keeps the page up to date: when the sandbox says that something changed, the page is asked for once more, and
 * its parts marked `data-live` replace those that are there.
 *
 * @module
 */

const REFRESH_MS = 150
const connection = document.querySelector('#connection')
/** What the server last said of each part, so that an unchanged one keeps its focus and its selection. */
const known = new Map()

let waiting
let busy = false
let again = false

const source = new EventSource('/events')
source.addEventListener('change', ({ data }) => {
  document.dispatchEvent(new CustomEvent('sandbox:change', { detail: JSON.parse(data) }))
  refreshSoon()
})
// Also the first time: something may have happened since the page was drawn.
source.addEventListener('open', () => {
  connection.textContent = 'Live'
  connection.classList.remove('lost')
  document.dispatchEvent(new CustomEvent('sandbox:connect'))
  refreshSoon()
})
source.addEventListener('error', () => {
  connection.textContent = 'Not connected: is the sandbox running?'
  connection.classList.add('lost')
})
// A connection that is left open would keep the page out of the browser's memory of pages.
addEventListener('pagehide', () => source.close())

document.querySelector('nav [aria-current="page"]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
for (const part of liveParts(document)) known.set(part.id, part.innerHTML)

/** Asks for the page once more, soon: changes come in bursts. */
export function refreshSoon() {
  if (waiting === undefined) waiting = setTimeout(refresh, REFRESH_MS)
}

async function refresh() {
  waiting = undefined
  if (busy) {
    again = true
    return
  }
  busy = true
  try {
    const response = await fetch(location.href, { headers: { accept: 'text/html' } })
    if (response.ok) replaceParts(new DOMParser().parseFromString(await response.text(), 'text/html'))
  } catch {
    // The sandbox was stopped; the connection says so.
  } finally {
    busy = false
    if (again) refreshSoon()
    again = false
  }
}

function replaceParts(fresh) {
  for (const part of liveParts(fresh)) {
    const html = part.innerHTML
    const old = document.getElementById(part.id)
    if (!old || known.get(part.id) === html) continue
    known.set(part.id, html)
    keepState(old, () => old.replaceChildren(...part.childNodes))
  }
}

function liveParts(root) {
  return root.querySelectorAll('[data-live]')
}

/** What a person opened, wrote into or looks at survives. */
function keepState(part, replace) {
  const focused = part.contains(document.activeElement) ? document.activeElement : undefined
  const focusKey = focused && keyOf(focused)
  const open = [...part.querySelectorAll('details[open][id]')].map(({ id }) => id)
  const kept = [...part.querySelectorAll('[data-keep]')]
  const scrolled = part.scrollTop
  replace()
  for (const id of open) document.getElementById(id)?.setAttribute('open', '')
  for (const element of kept) document.getElementById(element.id)?.replaceWith(element)
  part.scrollTop = scrolled
  if (focusKey) [...part.querySelectorAll('a, button')].find((one) => keyOf(one) === focusKey)?.focus()
}

function keyOf(element) {
  return `${element.getAttribute('href') ?? ''} ${element.dataset.action ?? ''} ${element.dataset.body ?? ''}`
}
