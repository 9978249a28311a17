/**
 * Forms from a JSON Schema: conditional fields, their values as JSON, and the host’s errors at the fields.
 */
import { perform, placeOf, show } from './actions.js'

for (const form of document.querySelectorAll('form[data-action]')) {
  form.addEventListener('input', () => applyConditions(form))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    send(form)
  })
  applyConditions(form)
}

/** Shows a field if its condition holds: the values of other fields, as JSON Schema’s `if` has them. */
function applyConditions(form) {
  for (const field of form.querySelectorAll('[data-shown-when]')) {
    const conditions = Object.entries(JSON.parse(field.dataset.shownWhen))
    field.hidden = !conditions.every(([name, expected]) => {
      const own = CSS.escape(name)
      const control = form.querySelector(`[data-name="${own}"], [data-extra="${own}"]:checked`)
      const state = control?.type === 'checkbox' ? String(control.checked) : control?.value
      return String(expected.const) === state
    })
  }
}

async function send(form) {
  const button = form.querySelector('button.primary')
  if (button.getAttribute('aria-disabled') === 'true') return
  for (const line of form.querySelectorAll('.fault')) line.hidden = true
  for (const control of form.querySelectorAll('[aria-invalid]')) control.removeAttribute('aria-invalid')
  const { values, errors } = collect(form)
  if (errors.length > 0) return showErrors(form, errors)
  button.setAttribute('aria-disabled', 'true')
  try {
    const result = await perform(form.dataset.action, bodyOf(form, values))
    show(result, placeOf(form.dataset.target))
    showErrors(form, result.errors ?? [])
  } catch (error) {
    showErrors(form, [], error.message)
  } finally {
    button.removeAttribute('aria-disabled')
  }
}

/** The fixed body of the form, with the other controls and the values of the fields at their paths. */
function bodyOf(form, values) {
  const body = JSON.parse(form.dataset.body)
  if (form.dataset.path) assign(body, `event.${form.dataset.path}`, values)
  for (const { type, checked, value, dataset } of form.querySelectorAll('[data-extra]')) {
    if (value !== '' && (type !== 'radio' || checked)) assign(body, dataset.extra, value)
  }
  return body
}

function assign(target, path, value) {
  const [name, ...rest] = path.split('.')
  if (rest.length === 0) target[name] = value
  else {
    target[name] ??= {}
    assign(target[name], rest.join('.'), value)
  }
}

/** The values of the fields. Empty fields are left out, so that the host’s defaults apply. */
function collect(form) {
  const values = {}
  const errors = []
  for (const control of form.querySelectorAll('[data-name]')) {
    if (control.closest('[hidden]')) continue
    const { name, kind } = control.dataset
    try {
      const value = read(control, kind)
      if (value !== undefined) values[name] = value
    } catch {
      errors.push({ path: name, message: 'is not JSON' })
    }
  }
  return { values, errors }
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
      // A comma in quotes or angle brackets does not separate.
      return (text.match(/(?:"[^"]*"|<[^>]*>|[^,\n"<])+/g) ?? []).map((item) => item.trim()).filter(Boolean)
    default:
      return text
  }
}

/** Shows each error at its field: `deployment.inputs.domain` at `domain`, `messages[0].to` at `messages`. */
function showErrors(form, errors, message = '') {
  const others = message === '' ? [] : [message]
  const prefix = `${form.dataset.path}.`
  for (const { path, message } of errors) {
    const inner = path.startsWith(prefix) ? path.slice(prefix.length) : path
    const [name] = inner.split(/[.[]/)
    const field = form.querySelector(`[data-field="${CSS.escape(name)}"]`)
    const line = field?.querySelector('.fault')
    if (!line || field.closest('[hidden]')) {
      others.push(`${path} ${message}`)
      continue
    }
    const text = `${inner.slice(name.length)} ${message}`.trim()
    line.textContent = line.hidden ? text : `${line.textContent}; ${text}`
    line.hidden = false
    field.querySelector('[data-name]').setAttribute('aria-invalid', 'true')
    field.closest('details')?.setAttribute('open', '')
  }
  const whole = form.querySelector('.form-fault')
  whole.textContent = others.join('; ')
  whole.hidden = others.length === 0
  form.querySelector('[aria-invalid]')?.focus()
}
