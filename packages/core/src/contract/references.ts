/** Looks up a variable: its value, or why the host refuses it, in words that never contain the value. */
export type EnvironmentLookup = (name: string) => { value: string } | { problem: string }

/** Whether an input names a variable of the host. */
export function hasReference(value: unknown): value is string {
  return typeof value === 'string' && value.includes('{{')
}

const VARIABLE = /^env\.([A-Za-z_][A-Za-z0-9_]{0,127})$/

/**
 * Replaces each `{{env.NAME}}` of a text in one pass (specification §2.4). References inside a variable's value
 * stay as they are.
 *
 * @returns the text, or which reference could not be resolved and why
 */
export function resolveReferences(text: string, lookup: EnvironmentLookup): ReturnType<EnvironmentLookup> {
  let value = ''
  let position = 0
  for (;;) {
    const open = text.indexOf('{{', position)
    if (open === -1) return { value: value + text.slice(position) }
    const close = text.indexOf('}}', open)
    if (close === -1) return { problem: 'has “{{” without “}}”; write {{env.NAME}}' }
    const name = close - open > 200 ? undefined : VARIABLE.exec(text.slice(open + 2, close).trim())?.[1]
    if (!name) return { problem: 'has a reference that is not understood; write {{env.NAME}}' }
    const found = lookup(name)
    if ('problem' in found) return found
    value += text.slice(position, open) + found.value
    position = close + 2
  }
}
