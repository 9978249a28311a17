/** The keys of the mailbox. */
import { move } from './split.js'

document.querySelector('#list').addEventListener('keydown', (event) => {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  event.preventDefault()
  move(event.key === 'ArrowDown' ? 1 : -1)
})
