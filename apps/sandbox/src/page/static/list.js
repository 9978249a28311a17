/**
 * A list beside its details: the filter and the chosen item are the address, and the page is drawn again for each.
 * The keys are those of the timeline.
 */
import './forms.js'
import { connect, refresh } from './live.js'

const list = document.querySelector('#list')
const detail = document.querySelector('#detail')
const filter = document.querySelector('.filter')
/** The parameters that choose something, and those of what is chosen. */
const CHOICES = ['event', 'mail', 'edit', 'new', 'deployment', 'as']
const parameters = () => new URLSearchParams(location.search)
const choice = () => CHOICES.map((name) => parameters().get(name)).join()
const chosenRow = () => list.querySelector('[aria-current]')

let chosen = choice()

/** Goes to other parameters, as a step of the history or in place of the current one. */
function go(query, history = 'push') {
  navigation.navigate(location.pathname + (query.size > 0 ? `?${query}` : ''), { history })
}

/** The focus follows the choice: onto its line, or into the editor. */
async function draw() {
  const before = chosenRow()
  await refresh()
  if (chosen !== choice()) {
    chosen = choice()
    detail.scrollTop = 0
    const row = chosenRow() ?? before
    row?.scrollIntoView({ block: 'nearest' })
    if (!enter()) row?.focus({ preventScroll: true })
  }
  detail.querySelector('.call[open]')?.scrollIntoView({ block: 'nearest' })
}

/** Puts the focus into a form in the details, unless a person chooses what to write. */
function enter() {
  const control = detail.querySelector('form :is(input, textarea, select)')
  if (!document.activeElement.closest('#chooser')) control?.focus({ preventScroll: true })
  return control
}

function followAddress(event) {
  const { canIntercept, destination, downloadRequest, hashChange, navigationType } = event
  const isHere = new URL(destination.url).pathname === location.pathname
  if (!canIntercept || !isHere || hashChange || downloadRequest !== null || navigationType === 'reload')
    return
  const handler = () => {
    if (navigationType !== 'replace') {
      for (const control of filter.elements) {
        const value = parameters().get(control.name) ?? ''
        if (control.type === 'checkbox') control.checked = value !== ''
        else control.value = value
      }
    }
    return draw()
  }
  event.intercept({ focusReset: 'manual', scroll: 'manual', handler })
}

function applyFilter() {
  const query = parameters()
  for (const name of ['start', ...Array.from(filter.elements, (control) => control.name)]) query.delete(name)
  for (const [name, value] of new FormData(filter)) if (value !== '') query.set(name, value)
  list.scrollTop = 0
  go(query, 'replace')
}

/** Chooses the next or the previous line. The way back leads to the list, and not through every line on the way. */
function move(by) {
  const rows = [...list.querySelectorAll('.line')]
  const from = rows.indexOf(rows.find((row) => row === document.activeElement) ?? chosenRow())
  const row = rows[from === -1 ? 0 : from + by]
  if (!row) return
  row.focus()
  go(new URL(row.href).searchParams, detail.childElementCount > 0 ? 'replace' : 'push')
}

function close() {
  const query = parameters()
  for (const name of [...CHOICES, 'call', 'tab']) query.delete(name)
  if (query.size < parameters().size) go(query)
}

const press = (selector) => document.querySelector(selector)?.click()
const keys = {
  '/': () => filter.elements[0].focus(),
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  j: () => move(1),
  k: () => move(-1),
  // Never with a new id: a key must not repeat an effect.
  r: () => press('#detail [data-action="again"][data-body*="same"]'),
  e: () => press('#detail a[href*="edit="]'),
  n: () => press('.bar .primary'),
}

function pressKey(event) {
  const { key, target } = event
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (document.querySelector('dialog[open], :popover-open')) return
  if (key === 'Escape') {
    if (target === filter.elements[0] && target.value !== '') return
    event.preventDefault()
    target.blur()
    return close()
  }
  if (target.closest('input, textarea, select, pre, #detail') && key.startsWith('Arrow')) return
  if (target.closest('input, textarea, select') || !Object.hasOwn(keys, key)) return
  event.preventDefault()
  keys[key]()
}

if (filter) {
  chosenRow()?.scrollIntoView({ block: 'center' })
  enter()
  navigation.addEventListener('navigate', followAddress)
  filter.addEventListener('submit', (event) => event.preventDefault())
  filter.addEventListener('input', applyFilter)
  detail.addEventListener('change', ({ target: { dataset, value } }) => {
    if (dataset.parameter === undefined) return
    const query = parameters()
    query.set(dataset.parameter, value)
    go(query, 'replace')
  })
  document.addEventListener('keydown', pressKey)
}

// The page is live only if all scripts load: otherwise its banner stays.
connect()
