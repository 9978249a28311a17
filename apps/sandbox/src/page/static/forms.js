/**
 * Forms that were drawn from a JSON Schema: fields that depend on others, what they come to as JSON, and the
 * host's faults at their fields.
 *
 * @module
 */
import { perform, say } from './actions.js'

for (const form of document.querySelectorAll('form[data-send]')) {
  form.addEventListener('input', () => applyConditions(form))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    send(form)
  })
  applyConditions(form)
}

/** Shows the fields whose condition holds: `visibleWhen` names other fields and their values. */
function applyConditions(form) {
  for (const field of form.querySelectorAll('[data-visible-when]')) {
    const conditions = Object.entries(JSON.parse(field.dataset.visibleWhen))
    field.hidden = !conditions.every(([name, value]) => {
      const own = CSS.escape(name)
      const control = form.querySelector(`[data-name="${own}"], [data-extra="${own}"]:checked`)
      return control && [value].flat().map(String).includes(stateOf(control))
    })
  }
}

function stateOf(control) {
  return control.type === 'checkbox' ? String(control.checked) : control.value
}

async function send(form) {
  const button = form.querySelector('button.primary')
  if (button.getAttribute('aria-disabled') === 'true') return
  clearFaults(form)
  const { values, faults } = collect(form)
  if (faults.length > 0) return showFaults(form, faults)
  button.setAttribute('aria-disabled', 'true')
  try {
    const answer = await perform(form.dataset.send, { ...extras(form), values })
    const place = document.getElementById(form.dataset.target?.slice(1))
    if (place && answer.html !== undefined) place.innerHTML = answer.html
    if (answer.message !== undefined) say(answer.message)
    showFaults(form, answer.errors ?? [], answer.status)
    if (!place && answer.status >= 400) say(`Answered with ${answer.status}.`)
    for (const [name, value] of Object.entries(answer.fill ?? {})) {
      form.querySelector(`[data-extra="${CSS.escape(name)}"]`).value = value
    }
  } catch (error) {
    const whole = form.querySelector('.form-fault')
    whole.textContent = error.message
    whole.hidden = false
  } finally {
    button.removeAttribute('aria-disabled')
  }
}

function extras(form) {
  const chosen = [...form.querySelectorAll('[data-extra]')].filter(
    ({ type, checked }) => type !== 'radio' || checked,
  )
  return Object.fromEntries(chosen.map((control) => [control.dataset.extra, control.value]))
}

/** What the fields come to. What is left empty is left out, so that the host's defaults apply. */
function collect(form) {
  const values = {}
  const faults = []
  for (const control of form.querySelectorAll('[data-name]')) {
    if (control.closest('[hidden]')) continue
    const { name, kind } = control.dataset
    try {
      const value = read(control, kind)
      if (value !== undefined) values[name] = value
    } catch {
      faults.push({ path: name, message: 'is not JSON' })
    }
  }
  return { values, faults }
}

function read(control, kind) {
  if (kind === 'boolean') return control.checked || undefined
  const text = control.value
  if (text.trim() === '') return undefined
  switch (kind) {
    case 'number':
      return Number(text)
    case 'json':
      return JSON.parse(text)
    case 'list':
      return listOf(text)
    case 'one-or-more': {
      const items = listOf(text)
      return items.length > 1 ? items : text.trim()
    }
    default:
      return text
  }
}

/** Commas within quotes or angle brackets belong to a name. */
function listOf(text) {
  const items = text.match(/(?:"[^"]*"|<[^>]*>|[^,\n"<])+/g) ?? []
  return items.map((item) => item.trim()).filter((item) => item !== '')
}

function clearFaults(form) {
  for (const fault of form.querySelectorAll('.fault')) fault.hidden = true
  for (const control of form.querySelectorAll('[aria-invalid]')) control.removeAttribute('aria-invalid')
}

/** Puts each fault to its field: `deployment.inputs.domain` and `messages[0].to` belong to `domain` and `messages`. */
function showFaults(form, faults, status) {
  const lost = []
  for (const { path, message } of faults) {
    const inner = path.startsWith(`${form.dataset.faults}.`)
      ? path.slice(form.dataset.faults.length + 1)
      : path
    const [name] = inner.split(/[.[]/)
    const field = form.querySelector(`[data-field="${CSS.escape(name)}"]`)
    const line = field?.querySelector('.fault')
    if (!line || field.closest('[hidden]')) {
      lost.push(`${path} ${message}`)
      continue
    }
    const rest = inner.slice(name.length)
    line.textContent = line.hidden ? `${rest} ${message}`.trim() : `${line.textContent}; ${rest} ${message}`
    line.hidden = false
    field.querySelector('[data-name]').setAttribute('aria-invalid', 'true')
    field.closest('details')?.setAttribute('open', '')
  }
  const whole = form.querySelector('.form-fault')
  whole.textContent = lost.join('; ')
  whole.hidden = lost.length === 0
  if (status >= 400 || faults.length > 0) form.querySelector('[aria-invalid]')?.focus()
}
