/**
 * Buttons with an action: they send `data-body` to `/actions/<data-action>`, and show the result in `data-target`.
 *
 * @module
 */

const toast = document.querySelector('#toast')
const dialog = document.querySelector('#copy-dialog')
let toastTimer

document.addEventListener('click', async (event) => {
  const button = event.target instanceof Element ? event.target.closest('button[data-action]') : null
  if (!button || button.getAttribute('aria-disabled') === 'true') return
  const { action, body, target } = button.dataset
  const place = placeOf(target)
  const ask = () => perform(action, JSON.parse(body))
  button.setAttribute('aria-disabled', 'true')
  try {
    if (action === 'reveal' && place) await toggle(button, place, ask)
    else if (target === 'clipboard') await copy((await ask()).text)
    else show(await ask(), place)
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

/** The element of a target such as `#result`. */
export function placeOf(target = '') {
  return document.getElementById(target.slice(1))
}

/** Shows a result in its place; without a place, as a short message. */
export function show({ html, message, status }, place) {
  if (place && html !== undefined) place.innerHTML = html
  else if (message !== undefined) say(message)
  else if (status >= 400) say(`The host responded with ${status}.`)
}

function say(message) {
  toast.textContent = message
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
