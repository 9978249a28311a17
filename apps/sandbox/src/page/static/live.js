/**
 * Keeps the page up to date: after a change, it loads the page again and replaces the parts marked `data-live`.
 *
 * @module
 */

const REFRESH_MS = 150
const connection = document.querySelector('#connection')
/** The last HTML of each part: an unchanged part keeps its focus and its selection. */
const known = new Map()

let waiting
let busy = false
let again = false

const source = new EventSource('/events')
source.addEventListener('change', ({ data }) => {
  document.dispatchEvent(new CustomEvent('sandbox:change', { detail: JSON.parse(data) }))
  refreshSoon()
})
// Also the first time: the page may be out of date already.
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
// An open connection would keep the page out of the back-forward cache.
addEventListener('pagehide', () => source.close())

document.querySelector('nav [aria-current="page"]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
for (const part of liveParts(document)) known.set(part.id, part.innerHTML)

/** Waits a moment, because changes come in bursts. */
function refreshSoon() {
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
    // The sandbox has stopped; the connection shows it.
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

/** Keeps open details, results, the scroll position and the focus. */
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
