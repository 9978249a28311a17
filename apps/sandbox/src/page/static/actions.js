/**
 * Buttons with an action: they send `data-body` to `/actions/<data-action>`, and show the result in `data-target`.
 *
 * @module
 */
const toast = document.querySelector('#toast')
const report = ({ message }) => say(message)
let toastTimer

document.addEventListener('click', ({ target }) => {
  for (const menu of document.querySelectorAll('.menu[open]')) {
    if (!menu.querySelector('summary').contains(target)) menu.removeAttribute('open')
  }
  const copied = target.closest('[data-copy]')
  if (copied) copy(copied.parentElement.querySelector('pre').textContent).catch(report)
  const button = target.closest('button[data-action]')
  if (button) run(button, button, () => JSON.parse(button.dataset.body)).catch(report)
})

// A file beside its place would replace the page.
for (const type of ['dragover', 'drop']) {
  document.addEventListener(type, (event) => {
    const isPlace = event.target.closest?.('[type="file"]')
    if (event.dataTransfer.types.includes('Files') && !isPlace) event.preventDefault()
  })
}

/**
 * Performs the action of an element, and shows its result.
 *
 * @param button is busy until then
 * @throws {Error} with a sentence for the reader
 */
export async function run({ dataset: { action, target = '' } }, button, bodyOf) {
  if (button.getAttribute('aria-disabled') === 'true') return undefined
  button.setAttribute('aria-disabled', 'true')
  const place = document.getElementById(target.slice(1))
  const ask = async () => perform(action, await bodyOf())
  try {
    if (action === 'reveal' && place) return await toggle(button, place, ask)
    const result = await (place ? waiting(ask(), place) : ask())
    if (target === 'clipboard') await copy(result.text)
    else show(result, place, target)
    return result
  } finally {
    button.removeAttribute('aria-disabled')
  }
}

/**
 * Sends an action.
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
async function waiting(result, place) {
  const started = performance.now()
  place.innerHTML = '<p>Calling … <span aria-hidden="true">0.0 s</span></p>'
  const time = place.querySelector('span')
  place.scrollIntoView({ block: 'nearest' })
  const timer = setInterval(() => {
    time.textContent = `${((performance.now() - started) / 1_000).toFixed(1)} s`
  }, 100)
  try {
    return await result
  } catch (error) {
    place.replaceChildren()
    throw error
  } finally {
    clearInterval(timer)
  }
}

/** Shows a result in its place; without a place, as a short message. */
function show({ html, message, status, number }, place, target) {
  if (target === 'follow' && number !== undefined) {
    const query = new URLSearchParams(location.pathname === '/timeline' ? location.search : '')
    for (const name of ['call', 'edit', 'new', 'start']) query.delete(name)
    query.set('event', number)
    location.assign(`/timeline?${query}`)
  } else if (place && html !== undefined) {
    place.innerHTML = html
    place.scrollIntoView({ block: 'nearest' })
  } else if (message !== undefined) say(message, html)
  else if (status >= 400) say(`The host responded with ${status}.`)
}

/**
 * Says something for a moment.
 *
 * @param html follows, such as a button
 */
export function say(message, html = '') {
  toast.textContent = `${message} `
  toast.insertAdjacentHTML('beforeend', html)
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
  await navigator.clipboard.writeText(text)
  say('Copied.')
}
