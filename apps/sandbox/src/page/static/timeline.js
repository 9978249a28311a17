/**
 * The timeline: its keys, the brush of the histogram, and the import of a session.
 *
 * @module
 */
import { perform, say } from './actions.js'
import { close, go, move, parameters } from './split.js'

const find = document.querySelector('[type="search"]')
const keyboard = document.querySelector('#keys')
/** The narrowest part of the histogram that counts as a choice. */
const CLICK_PIXELS = 4

const press = (selector) => document.querySelector(selector)?.click()
const keys = {
  '/': () => find.focus(),
  '?': () => keyboard.showModal(),
  j: () => move(1),
  k: () => move(-1),
  // Never with a new id: a key must not repeat an effect.
  r: () => press('#detail [data-action="again"][data-body*="same"]'),
  e: () => press('#detail a[href*="edit="]'),
  n: () => press('.title .primary'),
}

document.addEventListener('keydown', (event) => {
  const { key, target } = event
  if (event.ctrlKey || event.metaKey || event.altKey || keyboard.open) return
  if (key === 'Escape') {
    if (target === find && find.value !== '') return
    event.preventDefault()
    const menu = document.querySelector('.menu[open]')
    if (menu) return menu.removeAttribute('open')
    target.blur()
    return close()
  }
  if (target.closest('input, textarea, select, [role="textbox"]') || !Object.hasOwn(keys, key)) return
  event.preventDefault()
  keys[key]()
})

// The brush: it selects a part of the histogram.
let begun
document.addEventListener('pointerdown', (event) => {
  if (!event.target.closest('#bars') || event.button !== 0) return
  event.preventDefault()
  begun = event.clientX
})
document.addEventListener('pointermove', ({ clientX }) => {
  if (begun === undefined) return
  const bars = document.querySelector('#bars')
  const brush = bars.querySelector('.brush')
  brush.setAttribute('x', Math.min(begun, clientX) - bars.getBoundingClientRect().left)
  brush.setAttribute('width', Math.abs(clientX - begun))
})
document.addEventListener('pointerup', ({ clientX }) => {
  if (begun === undefined) return
  const bars = document.querySelector('#bars')
  const { left, width } = bars.getBoundingClientRect()
  const [from, to] = [Number(bars.dataset.from), Number(bars.dataset.to)]
  const timeAt = (x) => from + Math.min(1, Math.max(0, (x - left) / width)) * (to - from)
  const [first, last] = [Math.min(begun, clientX), Math.max(begun, clientX)]
  begun = undefined
  if (last - first < CLICK_PIXELS) return
  const query = parameters()
  query.set('from', Math.floor(timeAt(first)))
  query.set('to', Math.ceil(timeAt(last)))
  query.delete('start')
  go(query)
})

// A session, chosen or dropped.
const picker = document.querySelector('#import')
document.addEventListener('drop', ({ dataTransfer: { files } }) => {
  if (files.length === 0) return
  picker.files = files
  picker.dispatchEvent(new Event('change'))
})
picker.addEventListener('change', async () => {
  const [file] = picker.files
  if (!file) return
  const result = perform('import', { text: await file.text() })
  picker.value = ''
  say((await result.catch((error) => error)).message)
})
