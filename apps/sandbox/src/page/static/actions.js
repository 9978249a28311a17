/** Buttons with an action: they send `data-body` to `/actions/<data-action>`, and show the result. */
const toast = document.querySelector('#toast')
const TOAST_MS = 8_000
let toastTimer

document.addEventListener('click', ({ target }) => {
  const copied = target.closest('[data-copy]')
  if (copied) copy(copied.nextSibling.textContent).catch(report)
  const button = target.closest('button[data-action]')
  if (button) press(button).catch(report)
})

const report = ({ message }) => say(message)

async function press(button) {
  const { action, body, target = '' } = button.dataset
  const place = target.startsWith('#') ? document.getElementById(target.slice(1)) : undefined
  if (place?.dataset.hidden) return toggle(button, place)
  if (action === 'undo') hideToast()
  const result = await run(action, button, JSON.parse(body))
  if (!result) return
  if (place) toggle(button, place, result.text)
  else if (target === 'clipboard') await copy(result.text)
  else if (target === 'follow') follow(result.url)
  else if (target !== 'quiet' && result.message) say(result.message, result.html)
}

/**
 * Performs an action. The button is busy until then.
 * @returns `undefined` if the button was busy already
 * @throws {Error} with a sentence for the reader
 */
export async function run(action, button, values) {
  if (button.getAttribute('aria-disabled') === 'true') return undefined
  button.setAttribute('aria-disabled', 'true')
  try {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify(values)
    const response = await fetch(`/actions/${action}`, { method: 'POST', headers, body }).catch(() => {
      throw new Error('The sandbox does not respond: is it still running?')
    })
    const isJson = response.headers.get('content-type')?.includes('json')
    const result = isJson ? await response.json() : { message: await response.text() }
    if (!response.ok) throw new Error(result.message)
    return result
  } finally {
    button.removeAttribute('aria-disabled')
  }
}

/** Goes to what an action made; the list beside it keeps its filter. */
export function follow(url) {
  const target = new URL(url, location)
  const query = new URLSearchParams(target.pathname === location.pathname ? location.search : '')
  for (const name of ['call', 'tab', 'edit', 'new', 'as', 'deployment', 'event', 'start']) query.delete(name)
  for (const [name, value] of target.searchParams) query.set(name, value)
  location.assign(`${target.pathname}?${query}`)
}

/**
 * Says something for a moment, longer while a person is at it.
 * @param html follows, such as a button
 */
export function say(message, html = '') {
  toast.textContent = `${message} `
  toast.insertAdjacentHTML('beforeend', html)
  toast.hidden = false
  clearTimeout(toastTimer)
  toastTimer = setTimeout(
    () => (toast.matches(':hover, :focus-within') ? say(message, html) : hideToast()),
    TOAST_MS,
  )
}

function hideToast() {
  toast.hidden = true
  toast.replaceChildren()
}

/** Shows a secret, or hides it again. */
function toggle(button, place, text = place.dataset.hidden) {
  const { hidden } = place.dataset
  if (hidden === undefined) place.dataset.hidden = place.textContent
  else delete place.dataset.hidden
  place.textContent = text
  button.textContent = hidden === undefined ? 'Hide' : 'Reveal'
}

async function copy(text) {
  await navigator.clipboard.writeText(text)
  say('Copied.')
}
