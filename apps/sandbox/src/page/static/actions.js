/**
 * Buttons with an action: they send `data-body` to `/actions/<data-action>`, and show the result in `data-target`.
 *
 * @module
 */

import { confirmed } from './confirm.js'

const toast = document.querySelector('#toast')
const dialog = document.querySelector('#copy-dialog')
let toastTimer

document.addEventListener('click', (event) => {
  const copied = event.target instanceof Element ? event.target.closest('[data-copy]') : null
  if (copied) copy(copied.parentElement.querySelector('pre').textContent)
  for (const menu of document.querySelectorAll('.menu[open]')) {
    if (!menu.querySelector('summary').contains(event.target)) menu.removeAttribute('open')
  }
})
document.addEventListener('click', async (event) => {
  const button = event.target instanceof Element ? event.target.closest('button[data-action]') : null
  if (!button || button.getAttribute('aria-disabled') === 'true') return
  const { action, body, target, confirm } = button.dataset
  const place = placeOf(target)
  const ask = () => perform(action, JSON.parse(body))
  if (confirm && !(await confirmed(confirm, button.textContent))) return
  button.setAttribute('aria-disabled', 'true')
  try {
    if (action === 'reveal' && place) await toggle(button, place, ask)
    else if (target === 'clipboard') await copy((await ask()).text)
    else show(await waiting(ask(), place), place, target)
  } catch (error) {
    say(error.message)
  } finally {
    button.removeAttribute('aria-disabled')
  }
})

/**
 * Performs an action.
 *
 * @throws {Error} with a sentence for the reader
 */
export async function perform(action, body) {
  const response = await fetch(`/actions/${action}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new Error('The sandbox does not respond: is it still running?')
  })
  const text = await response.text()
  const result = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : { message: text }
  if (!response.ok) throw new Error(result.message)
  return result
}

/** Shows in a place that something is under way, and for how long. */
export async function waiting(result, place) {
  if (!place) return result
  const started = performance.now()
  place.innerHTML = '<p class="calling">Calling … <span aria-hidden="true"></span></p>'
  const time = place.querySelector('span')
  const count = () => {
    time.textContent = `${((performance.now() - started) / 1_000).toFixed(1)} s`
  }
  count()
  place.scrollIntoView({ block: 'nearest' })
  const timer = setInterval(count, 100)
  try {
    return await result
  } catch (error) {
    place.replaceChildren()
    throw error
  } finally {
    clearInterval(timer)
  }
}

/** The element of a target such as `#result`. */
export function placeOf(target = '') {
  return document.getElementById(target.slice(1))
}

/** Shows a result in its place; without a place, as a short message. */
export function show({ html, message, status, number, undo }, place, target) {
  if (target === 'follow' && number !== undefined) {
    if (location.pathname === '/timeline')
      document.dispatchEvent(new CustomEvent('follow', { detail: number }))
    else location.assign(`/timeline?event=${number}`)
  } else if (place && html !== undefined) {
    place.innerHTML = html
    place.scrollIntoView({ block: 'nearest' })
  } else if (message !== undefined) say(message, undo)
  else if (status >= 400) say(`The host responded with ${status}.`)
}

/**
 * Says something for a moment.
 *
 * @param undo the action that takes it back
 */
export function say(message, undo) {
  toast.textContent = message
  if (undo) {
    const button = document.createElement('button')
    Object.assign(button, { type: 'button', className: 'button link', textContent: 'Undo' })
    Object.assign(button.dataset, { action: undo, body: '{}' })
    toast.append(' ', button)
  }
  toast.classList.add('shown')
  clearTimeout(toastTimer)
  toastTimer = setTimeout(() => toast.classList.remove('shown'), 5_000)
}

/** Shows a secret, or hides it again. */
async function toggle(button, place, ask) {
  const { hidden } = place.dataset
  const text = hidden ?? (await ask()).text
  place.dataset.hidden = place.textContent
  place.textContent = text
  if (hidden !== undefined) delete place.dataset.hidden
  button.textContent = hidden === undefined ? 'Hide' : 'Reveal'
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text)
    say('Copied.')
  } catch {
    // Without the permission, the person copies by hand.
    const field = dialog.querySelector('textarea')
    field.value = text
    dialog.showModal()
    field.select()
  }
}
