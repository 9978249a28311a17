/** The mailbox: a chosen mail and the search change the address, and the page is drawn again. */
import { refresh } from './live.js'

const filter = document.querySelector('#mail-filter')

document.querySelector('.split').addEventListener('click', (event) => {
  const link = event.target.closest('a[href^="/mailbox"], a[href^="?"]')
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  history.pushState(null, '', link.href)
  refresh()
})

document.querySelector('#list').addEventListener('keydown', (event) => {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  event.preventDefault()
  const row = document.activeElement.closest('li')
  const next = event.key === 'ArrowDown' ? row?.nextElementSibling : row?.previousElementSibling
  next?.querySelector('a').focus()
})

addEventListener('popstate', () => {
  filter.elements.q.value = new URLSearchParams(location.search).get('q') ?? ''
  refresh()
})

filter.addEventListener('submit', (event) => event.preventDefault())
filter.addEventListener('input', () => {
  const text = filter.elements.q.value
  history.replaceState(null, '', text === '' ? '/mailbox' : `?${new URLSearchParams({ q: text })}`)
  refresh()
})
