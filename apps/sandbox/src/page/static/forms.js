/**
 * Forms with an action: their controls as JSON, by the paths in their names; conditional fields, and the host’s
 * errors at the fields.
 */
import { follow, run, say } from './actions.js'

// The browser fills in what a person typed before, after they came back.
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-action]')) {
    applyConditions(form)
    for (const control of form.querySelectorAll('input, textarea'))
      if (control.value !== control.defaultValue) unfold(control)
  }
})
document.addEventListener('keydown', ({ key, ctrlKey, metaKey, target }) => {
  if (key === 'Enter' && (ctrlKey || metaKey)) target.form?.requestSubmit()
})
document.addEventListener('input', ({ target }) => {
  if (target.form?.dataset.action) applyConditions(target.form)
})
document.addEventListener('submit', (event) => {
  if (!event.target.dataset.action) return
  event.preventDefault()
  send(event.target)
})

/** Shows a field if another one has the value that its condition names. */
function applyConditions(form) {
  for (const field of form.querySelectorAll('[data-shown-when]')) {
    const conditions = Object.entries(JSON.parse(field.dataset.shownWhen))
    field.hidden = !conditions.every(([name, value]) => form.elements[name]?.value === value)
  }
}

async function send(form) {
  for (const line of form.querySelectorAll('.fault')) line.hidden = true
  for (const control of form.querySelectorAll('[aria-invalid]')) control.removeAttribute('aria-invalid')
  const errors = []
  try {
    const body = await bodyOf(form, errors)
    if (errors.length > 0) return showErrors(form, errors)
    const result = await run(form.dataset.action, form.querySelector('.primary'), body)
    if (!result) return
    // A person who can correct the event stays; everybody else sees what came of it.
    if (result.errors?.some(({ path }) => fieldOf(form, path))) return showErrors(form, result.errors)
    form.closest('dialog')?.close()
    if (result.url) follow(result.url)
    else say(result.message)
  } catch ({ message }) {
    showErrors(form, [{ path: '', message }])
  }
}

/** The fixed body of the form, with the values of its controls. Empty ones are left out: the defaults apply. */
async function bodyOf(form, errors) {
  const body = JSON.parse(form.dataset.body)
  for (const control of form.elements) {
    const { name, type, checked } = control
    if (!name || control.closest('[hidden]') || (type === 'radio' && !checked)) continue
    const value = await read(control).catch(({ message }) => {
      errors.push({ path: name, message: control.files ? message : 'is not JSON' })
    })
    if (value === undefined) continue
    const path = name.split('.')
    const last = path.pop()
    const owner = path.reduce((inner, step) => {
      inner[step] ??= {}
      return inner[step]
    }, body)
    owner[last] = value
  }
  return body
}

async function read({ value, files, dataset: { kind, content } }) {
  if (files)
    return files.length > 0 ? Promise.all(Array.from(files, (file) => readFile(file, content))) : undefined
  if (value.trim() === '') return undefined
  if (kind === 'list') return listOf(value)
  if (kind === 'number') return Number(value)
  return kind === 'json' || kind === 'boolean' ? JSON.parse(value) : value
}

/** The items of a list. A comma in quotes or angle brackets does not separate. */
function listOf(value) {
  return (value.match(/(?:"[^"]*"|<[^>]*>|[^,\n"<])+/g) ?? []).map((item) => item.trim()).filter(Boolean)
}

async function readFile(file, content) {
  const url = await new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(reader.result))
    reader.addEventListener('error', () => reject(new Error('can’t be read')))
    reader.readAsDataURL(file)
  })
  const contentType = file.type || 'application/octet-stream'
  return { name: file.name, contentType, [content]: url.slice(url.indexOf(',') + 1) }
}

/** The path inside the inputs or the arguments: `deployment.inputs.domain` is `domain`. */
function innerPath(path) {
  return path.replace(/^(event\.)?(deployment\.inputs|functionCall\.arguments)\./, '')
}

/** The field of an error: `messages[0].to` stands at `messages`. */
function fieldOf(form, path) {
  const [name] = innerPath(path).split(/[.[]/)
  return form.querySelector(`[data-field="${CSS.escape(name)}"]:not([hidden])`)
}

/** An error in the words of the field: the value instead of its index. */
function wordsOf(path, message, { value, dataset: { kind } }) {
  const [, index, rest = ''] = /^[^.[]+(?:\[(\d+)\])?(.*)$/.exec(innerPath(path)) ?? []
  const item = kind === 'list' ? listOf(value)[index ?? 0] : undefined
  if (item !== undefined) return `“${item}” ${message}`
  return `${index === undefined ? '' : `[${index}]`}${rest} ${message}`.trim()
}

function showErrors(form, errors) {
  const others = []
  for (const { path, message } of errors) {
    const field = fieldOf(form, path)
    if (!field) {
      others.push(`${path} ${message}`.trim())
      continue
    }
    const line = field.querySelector('.fault')
    const control = field.querySelector('[data-kind]')
    const text = wordsOf(path, message, control)
    line.textContent = line.hidden ? text : `${line.textContent}; ${text}`
    line.hidden = false
    control.setAttribute('aria-invalid', 'true')
    unfold(control)
  }
  const whole = form.querySelector('.form-fault')
  whole.textContent = others.join('; ')
  whole.hidden = others.length === 0
  form.querySelector('[aria-invalid]')?.focus()
}

function unfold(control) {
  control.closest('details')?.setAttribute('open', '')
}
