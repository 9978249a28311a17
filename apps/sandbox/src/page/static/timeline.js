/** The timeline: a chosen event and the filter change the address, and the page is drawn again. */
import { refresh } from './live.js'

const list = document.querySelector('#list')
const detail = document.querySelector('#detail')
const filter = document.querySelector('#filter')

async function show(parameters) {
  history.replaceState(null, '', `?${parameters}`)
  await refresh()
}

list.addEventListener('click', async (event) => {
  const row = event.target.closest('.event-row, .call-row')
  if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  const parameters = new URLSearchParams(location.search)
  const chosen = new URL(row.href).searchParams
  for (const name of ['event', 'call']) {
    parameters.delete(name)
    if (chosen.has(name)) parameters.set(name, chosen.get(name))
  }
  await show(parameters)
  detail.scrollTop = 0
  if (chosen.has('call')) detail.querySelector('.call[open]')?.scrollIntoView({ block: 'nearest' })
})

filter.addEventListener('submit', (event) => event.preventDefault())
filter.addEventListener('input', () => {
  const parameters = new URLSearchParams([...new FormData(filter)].filter(([, value]) => value !== ''))
  const event = new URLSearchParams(location.search).get('event')
  if (event) parameters.set('event', event)
  list.scrollTop = 0
  show(parameters)
})

list.addEventListener('keydown', (event) => {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  event.preventDefault()
  const rows = [...list.querySelectorAll('.event-row, .call-row')]
  rows[rows.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1)]?.focus()
})
