/**
 * Forms from a JSON Schema: conditional fields, their values as JSON, and the host’s errors at the fields.
 */
import { perform, placeOf, show, waiting } from './actions.js'

for (const form of document.querySelectorAll('form[data-action]')) {
  restore(form)
  applyConditions(form)
}
// A form may come later than this script.
document.addEventListener('input', ({ target }) => {
  const form = target.closest('form[data-action]')
  if (!form) return
  remember(form, target)
  applyConditions(form)
})
document.addEventListener('submit', (event) => {
  if (!event.target.matches('form[data-action]')) return
  event.preventDefault()
  send(event.target)
})

/** The key of a form in the storage of the tab. */
function keyOf(form) {
  return `form ${location.pathname} ${form.dataset.body}`
}

/** Keeps a typed value for the way back; neither secrets nor files. */
function remember(form, { id, type, value, name }) {
  if (type === 'password' || type === 'file') return
  const typed = JSON.parse(sessionStorage.getItem(keyOf(form)) ?? '{}')
  typed[type === 'radio' ? `[name="${name}"][value="${CSS.escape(value)}"]` : `#${CSS.escape(id)}`] = value
  sessionStorage.setItem(keyOf(form), JSON.stringify(typed))
}

/** Fills in the typed values, if the person came back or loaded the page again. */
function restore(form) {
  const [{ type }] = performance.getEntriesByType('navigation')
  if (type === 'navigate') return sessionStorage.removeItem(keyOf(form))
  for (const [selector, value] of Object.entries(JSON.parse(sessionStorage.getItem(keyOf(form)) ?? '{}'))) {
    const control = form.querySelector(selector)
    if (control?.type === 'radio') control.checked = true
    else if (control) control.value = value
    control?.closest('details')?.setAttribute('open', '')
  }
}

/** Shows a field if its condition holds: the values of other fields, as JSON Schema’s `if` has them. */
function applyConditions(form) {
  for (const field of form.querySelectorAll('[data-shown-when]')) {
    const conditions = Object.entries(JSON.parse(field.dataset.shownWhen))
    field.hidden = !conditions.every(([name, expected]) => {
      const own = CSS.escape(name)
      const control = form.querySelector(`[data-name="${own}"], [data-extra="${own}"]:checked`)
      return String(expected.const) === control?.value
    })
  }
}

async function send(form) {
  const button = form.querySelector('button.primary')
  if (button.getAttribute('aria-disabled') === 'true') return
  for (const line of form.querySelectorAll('.fault')) line.hidden = true
  for (const control of form.querySelectorAll('[aria-invalid]')) control.removeAttribute('aria-invalid')
  const { values, errors } = await collect(form)
  if (errors.length > 0) return showErrors(form, errors)
  button.setAttribute('aria-disabled', 'true')
  try {
    const place = placeOf(form.dataset.target)
    const asked = perform(form.dataset.action, bodyOf(form, values))
    const result = await waiting(asked, place)
    show(result, place, form.dataset.target)
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
async function collect(form) {
  const values = {}
  const errors = []
  for (const control of form.querySelectorAll('[data-name]')) {
    if (control.closest('[hidden]')) continue
    const { name, kind } = control.dataset
    try {
      const value = await read(control, kind)
      if (value !== undefined) values[name] = value
    } catch {
      errors.push({ path: name, message: 'is not JSON' })
    }
  }
  return { values, errors }
}

function read(control, kind) {
  if (kind === 'files') return readFiles(control)
  const text = control.value
  if (text.trim() === '') return undefined
  switch (kind) {
    case 'number':
      return Number(text)
    case 'boolean':
      return text === 'true'
    case 'json':
      return JSON.parse(text)
    case 'list':
      // A comma in quotes or angle brackets does not separate.
      return (text.match(/(?:"[^"]*"|<[^>]*>|[^,\n"<])+/g) ?? []).map((item) => item.trim()).filter(Boolean)
    default:
      return text
  }
}

/** The chosen files, each with its content in base64. */
async function readFiles({ files, dataset }) {
  const read = (file) =>
    new Promise((resolve, reject) => {
      const reader = new FileReader()
      reader.addEventListener('load', () => resolve(reader.result.slice(reader.result.indexOf(',') + 1)))
      reader.addEventListener('error', () => reject(reader.error))
      reader.readAsDataURL(file)
    })
  if (files.length === 0) return undefined
  return Promise.all(
    [...files].map(async (file) => ({
      name: file.name,
      contentType: file.type || 'application/octet-stream',
      [dataset.content]: await read(file),
    })),
  )
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
