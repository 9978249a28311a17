/**
 * The timeline: the chosen event, the filter and the time are the address; the page is drawn again for each.
 *
 * @module
 */
import { perform, say } from './actions.js'
import { refresh } from './live.js'

const list = document.querySelector('#list')
const detail = document.querySelector('#detail')
const filter = document.querySelector('#filter')
const find = filter.querySelector('[type="search"]')
const DETAIL_PARAMETERS = ['event', 'call', 'tab', 'edit', 'new']
/** The narrowest part of the histogram that counts as a choice. */
const CLICK_PIXELS = 4

showChosen('center')

/** Draws the page of an address, as a step of the history or in place of the current one. */
async function go(parameters, { replace = false } = {}) {
  const url = parameters.size > 0 ? `?${parameters}` : location.pathname
  history[replace ? 'replaceState' : 'pushState'](null, '', url)
  await refresh()
}

async function choose(number, { replace = false, newest = false } = {}) {
  const parameters = current()
  for (const name of DETAIL_PARAMETERS) if (name !== 'tab') parameters.delete(name)
  if (newest) parameters.delete('start')
  parameters.set('event', number)
  await go(parameters, { replace })
  detail.scrollTop = 0
  focusChosen()
}

/** Closes the details; the focus stays on their row. */
async function close() {
  const row = chosenRow()
  const parameters = current()
  if (!DETAIL_PARAMETERS.some((name) => parameters.has(name))) return
  for (const name of DETAIL_PARAMETERS) parameters.delete(name)
  await go(parameters)
  row?.focus({ preventScroll: true })
  row?.scrollIntoView({ block: 'nearest' })
}

function current() {
  return new URLSearchParams(location.search)
}

function chosenRow() {
  return list.querySelector('.event-row[aria-current]')
}

function showChosen(block) {
  chosenRow()?.scrollIntoView({ block })
}

function focusChosen() {
  chosenRow()?.focus({ preventScroll: true })
  showChosen('nearest')
}

/** The filter shows the address. */
function fillFilter() {
  for (const control of filter.elements) {
    const value = current().get(control.name) ?? ''
    if (control.type === 'checkbox') control.checked = value !== ''
    else control.value = value
  }
}

addEventListener('popstate', async () => {
  fillFilter()
  await refresh()
  focusChosen()
})

document.addEventListener('click', async (event) => {
  const link = event.target.closest('#list a, #detail a, #histogram a, .title a')
  if (!link || link.hasAttribute('download') || event.ctrlKey || event.metaKey || event.shiftKey) return
  const { origin, pathname, searchParams } = new URL(link.href)
  if (origin !== location.origin || pathname !== location.pathname) return
  event.preventDefault()
  const row = link.closest('.event-row')
  // Another event keeps the open tab.
  const tab = current().get('tab')
  if (row && tab) searchParams.set('tab', tab)
  const drawn = go(searchParams)
  fillFilter()
  await drawn
  if (row) {
    row.focus({ preventScroll: true })
    detail.scrollTop = 0
  }
  detail.querySelector('.call[open]')?.scrollIntoView({ block: 'nearest' })
})

// An action that delivers an event shows the delivery.
document.addEventListener('follow', ({ detail: number }) => choose(number, { newest: true }))

filter.addEventListener('submit', (event) => event.preventDefault())
filter.addEventListener('input', () => {
  const parameters = new URLSearchParams([...new FormData(filter)].filter(([, value]) => value !== ''))
  for (const name of [...DETAIL_PARAMETERS, 'from', 'to']) {
    const value = current().get(name)
    if (value !== null) parameters.set(name, value)
  }
  list.scrollTop = 0
  go(parameters, { replace: true })
})

// Keys.
const dialog = document.querySelector('#keys')
document.querySelector('#keys-open').addEventListener('click', () => dialog.showModal())

const keys = {
  '/': () => find.focus(),
  '?': () => dialog.showModal(),
  j: () => move(1),
  k: () => move(-1),
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  // Never with a new id: a key must not repeat an effect.
  r: () => press('[data-action="again"][data-body*="same"]'),
  e: () => press('a[href*="edit="]'),
  n: () => document.querySelector('.title .primary').click(),
}

document.addEventListener('keydown', (event) => {
  const { key, target } = event
  if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return
  if (key === 'Escape') {
    if (target === find && find.value !== '') return
    event.preventDefault()
    const menu = document.querySelector('.menu[open]')
    if (menu) {
      menu.removeAttribute('open')
      return
    }
    target.blur()
    close()
    return
  }
  if (target.closest('input, textarea, select, [role="textbox"]') || !Object.hasOwn(keys, key)) return
  // The arrows scroll, outside the list.
  if (key.startsWith('Arrow') && !list.contains(target)) return
  event.preventDefault()
  keys[key]()
})

function press(selector) {
  detail.querySelector(selector)?.click()
}

async function move(by) {
  const rows = [...list.querySelectorAll('.event-row')]
  const from = rows.indexOf(rows.find((row) => row === document.activeElement) ?? chosenRow())
  const row = rows[from === -1 ? 0 : from + by]
  if (!row) return
  row.focus()
  // The way back leads to the list, and not through every event on the way.
  await choose(new URL(row.href).searchParams.get('event'), { replace: current().has('event') })
}

// The brush: it selects a part of the histogram.
let begun

function timeAt(bars, x) {
  const { left, width } = bars.getBoundingClientRect()
  const { from, to } = bars.dataset
  const share = Math.min(1, Math.max(0, (x - left) / width))
  return Number(from) + share * (to - from)
}

document.addEventListener('pointerdown', (event) => {
  const bars = event.target.closest('#bars')
  if (!bars || event.button !== 0) return
  event.preventDefault()
  begun = event.clientX
})
document.addEventListener('pointermove', ({ clientX }) => {
  if (begun === undefined) return
  const bars = document.querySelector('#bars')
  const { left } = bars.getBoundingClientRect()
  const brush = bars.querySelector('.brush')
  brush.setAttribute('x', Math.min(begun, clientX) - left)
  brush.setAttribute('width', Math.abs(clientX - begun))
})
document.addEventListener('pointerup', ({ clientX }) => {
  if (begun === undefined) return
  const bars = document.querySelector('#bars')
  const [one, other] = [begun, clientX]
  begun = undefined
  if (Math.abs(one - other) < CLICK_PIXELS) return
  const parameters = current()
  parameters.set('from', Math.floor(timeAt(bars, Math.min(one, other))))
  parameters.set('to', Math.ceil(timeAt(bars, Math.max(one, other))))
  parameters.delete('start')
  go(parameters)
})

// A session, dropped or chosen.
document.addEventListener('dragover', (event) => {
  if (event.dataTransfer.types.includes('Files')) event.preventDefault()
})
document.addEventListener('drop', (event) => {
  const [file] = event.dataTransfer.files
  if (!file) return
  event.preventDefault()
  load(file)
})
document.querySelector('#import').addEventListener('change', ({ target }) => {
  const [file] = target.files
  if (file) load(file)
  target.value = ''
})

async function load(file) {
  try {
    say((await perform('import', { text: await file.text() })).message)
  } catch (error) {
    say(error.message)
  }
}
