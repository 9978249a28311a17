/**
 * The forms in which the name of an integration is written.
 *
 * @module
 */

/** A name in each of its forms. */
export interface Names {
  /** Packages, routes and folders: `example-service`. */
  kebab: string
  /** Values: `exampleService`. */
  camel: string
  /** Types, and within other names: `ExampleService`. */
  pascal: string
  /** Variables of the environment: `EXAMPLE_SERVICE`. */
  constant: string
  /** The beginning of a sentence: `Example service`. */
  title: string
  /** Within a sentence: `example service`. */
  words: string
}

/** The name that the template has. Two words, so that no two of its forms are the same. */
const TEMPLATE = 'example-service'

/**
 * Every form of a name.
 *
 * @param kebab lower-case words, digits among them, joined by hyphens
 * @throws where it is not that
 */
export function formsOf(kebab: string): Names {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(kebab)) {
    throw new Error(
      `“${kebab}” is no name for an integration: lower-case words joined by hyphens, like sms-gateway.`,
    )
  }
  const parts = kebab.split('-')
  const pascal = parts.map(capitalize).join('')
  const words = parts.join(' ')
  return {
    kebab,
    camel: pascal.charAt(0).toLowerCase() + pascal.slice(1),
    pascal,
    constant: parts.join('_').toUpperCase(),
    title: capitalize(words),
    words,
  }
}

/** A text of the template, or a path in it, under another name. */
export function rename(text: string, names: Names): string {
  const from = formsOf(TEMPLATE)
  const pairs: readonly (readonly [string, string])[] = [
    [from.kebab, names.kebab],
    [from.camel, names.camel],
    [from.pascal, names.pascal],
    [from.constant, names.constant],
    [from.title, names.title],
    [from.words, names.words],
  ]
  return pairs.reduce((renamed, [form, other]) => renamed.replaceAll(form, other), text)
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
