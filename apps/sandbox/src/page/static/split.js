/**
 * A list beside its details: the filter and the chosen item are the address, and the page is drawn again for each.
 *
 * @module
 */
import { refresh } from './live.js'

const list = document.querySelector('#list')
const detail = document.querySelector('#detail')
const filter = document.querySelector('.filter')
/** The parameters that choose something. */
const CHOICES = ['event', 'mail', 'edit', 'new']
let chosen = choice()

/** The parameters of the address. */
export function parameters() {
  return new URLSearchParams(location.search)
}

/** Goes to other parameters, as a step of the history or in place of the current one. */
export function go(query, history = 'push') {
  navigation.navigate(location.pathname + (query.size > 0 ? `?${query}` : ''), { history })
}

function chosenRow() {
  return list.querySelector('[aria-current]')
}

function choice() {
  return CHOICES.map((name) => parameters().get(name)).join()
}

/** The focus follows the choice, and stays on its line after it. */
async function draw() {
  const before = chosenRow()
  await refresh()
  if (chosen !== choice()) {
    chosen = choice()
    detail.scrollTop = 0
    const row = chosenRow() ?? before
    row?.focus({ preventScroll: true })
    row?.scrollIntoView({ block: 'nearest' })
  }
  detail.querySelector('.call[open]')?.scrollIntoView({ block: 'nearest' })
}

chosenRow()?.scrollIntoView({ block: 'center' })

navigation.addEventListener('navigate', (event) => {
  const { canIntercept, destination, downloadRequest, hashChange, navigationType } = event
  const isElsewhere = new URL(destination.url).pathname !== location.pathname
  if (!canIntercept || isElsewhere || hashChange || downloadRequest !== null || navigationType === 'reload')
    return
  const handler = () => {
    if (navigationType !== 'replace') fillFilter()
    return draw()
  }
  event.intercept({ focusReset: 'manual', scroll: 'manual', handler })
})

/** The filter shows the address. */
function fillFilter() {
  for (const control of filter.elements) {
    const value = parameters().get(control.name) ?? ''
    if (control.type === 'checkbox') control.checked = value !== ''
    else control.value = value
  }
}

filter.addEventListener('submit', (event) => event.preventDefault())
filter.addEventListener('input', () => {
  const query = parameters()
  for (const name of ['start', ...Array.from(filter.elements, (control) => control.name)]) query.delete(name)
  for (const [name, value] of new FormData(filter)) if (value !== '') query.set(name, value)
  list.scrollTop = 0
  go(query, 'replace')
})

/** Chooses the next or the previous line. The way back leads to the list, and not through every line on the way. */
export function move(by) {
  const rows = [...list.querySelectorAll('.line')]
  const from = rows.indexOf(rows.find((row) => row === document.activeElement) ?? chosenRow())
  const row = rows[from === -1 ? 0 : from + by]
  if (!row) return
  row.focus()
  go(new URL(row.href).searchParams, detail.childElementCount > 0 ? 'replace' : 'push')
}

list.addEventListener('keydown', (event) => {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  event.preventDefault()
  move(event.key === 'ArrowDown' ? 1 : -1)
})

/** Closes the details. */
export function close() {
  const query = parameters()
  for (const name of [...CHOICES, 'call', 'tab']) query.delete(name)
  if (query.size < parameters().size) go(query)
}
