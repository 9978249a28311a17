/** The name of the template. It has two words, so that no two of its forms are the same. */
export const TEMPLATE = 'example-service'

/**
 * Derives the forms of a name: `kebab` names packages, routes and folders, `camel` values, `pascal` types, `constant`
 * environment variables; `title` begins a sentence, and `words` stand within one.
 *
 * @param kebab lower-case words, digits among them, joined by hyphens
 * @throws if the name has another form
 */
export function formsOf(kebab: string) {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(kebab)) {
    throw new Error(`“${kebab}” is not a valid name. Join lower-case words by hyphens, as in sms-gateway.`)
  }
  const words = kebab.replaceAll('-', ' ')
  const pascal = kebab.split('-').map(capitalize).join('')
  return {
    kebab,
    camel: pascal.charAt(0).toLowerCase() + pascal.slice(1),
    pascal,
    constant: kebab.replaceAll('-', '_').toUpperCase(),
    title: capitalize(words),
    words,
  }
}

export type Names = ReturnType<typeof formsOf>

/** Replaces every form of the template's name in a text. */
export function rename(text: string, names: Names): string {
  const from = Object.values(formsOf(TEMPLATE))
  const to = Object.values(names)
  return from.reduce((renamed, form, index) => renamed.replaceAll(form, to[index] ?? ''), text)
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
