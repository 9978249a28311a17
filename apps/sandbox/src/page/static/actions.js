/**
 * Buttons that do something: they send what is in `data-body` to `/actions/<data-action>`, and show what comes of
 * it where `data-target` says.
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
  if (action === 'reveal' && target !== 'clipboard' && hide(button)) return
  button.setAttribute('aria-disabled', 'true')
  try {
    show(await perform(action, JSON.parse(body)), target, button)
  } catch (error) {
    say(error.message)
  } finally {
    button.removeAttribute('aria-disabled')
  }
})

/**
 * Does one thing.
 *
 * @throws {Error} with a sentence for the person
 */
export async function perform(action, body) {
  const response = await fetch(`/actions/${action}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new Error('The sandbox does not answer: is it still running?')
  })
  const text = await response.text()
  const answer = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : { message: text }
  if (!response.ok) throw new Error(answer.message)
  return answer
}

/** Says something for a moment; a screen reader says it, too. */
export function say(message) {
  toast.textContent = message
  toast.classList.add('shown')
  clearTimeout(toastTimer)
  toastTimer = setTimeout(() => toast.classList.remove('shown'), 5_000)
}

function show(answer, target, button) {
  if (target === 'clipboard') return copy(answer.text)
  if (button.dataset.action === 'reveal') return reveal(answer.text, target, button)
  const place = target ? document.getElementById(target.slice(1)) : null
  if (place && answer.html !== undefined) place.innerHTML = answer.html
  else if (answer.message !== undefined) say(answer.message)
  else if (answer.status >= 400) say(`Answered with ${answer.status}.`)
}

function reveal(text, target, button) {
  const place = document.getElementById(target.slice(1))
  place.dataset.hidden = place.textContent
  place.textContent = text
  button.textContent = 'Hide'
}

function hide(button) {
  const place = document.getElementById(button.dataset.target.slice(1))
  if (place.dataset.hidden === undefined) return false
  place.textContent = place.dataset.hidden
  delete place.dataset.hidden
  button.textContent = 'Reveal'
  return true
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text)
    say('Copied.')
  } catch {
    // Without permission, it is shown to be copied by hand.
    const field = dialog.querySelector('textarea')
    field.value = text
    dialog.showModal()
    field.select()
  }
}
