/**
 * Values that must show nowhere, and what finds them in whatever spelling.
 */

/** Finds a value in a text: as it is, in JSON, in a URL, in a form, or anywhere in something in base64. */
export function findCanaries(canaries: readonly string[], text: string): string[] {
  return canaries.filter((canary) => spellings(canary).some((spelling) => text.includes(spelling)))
}

/** Written apart from the redactor, so that neither can hide a mistake of the other. */
function spellings(canary: string): string[] {
  const json = JSON.stringify(canary).slice(1, -1)
  const forms = [
    canary,
    json,
    JSON.stringify(json).slice(1, -1),
    encodeURIComponent(canary),
    encodeURI(canary),
  ]
  for (const around of ['', '-', '--']) {
    for (const encoding of ['base64', 'base64url'] as const) {
      const encoded = Buffer.from(`${around}${canary}`).toString(encoding)
      // Without what depends on its neighbours, at both ends.
      forms.push(encoded.slice(around === '' ? 0 : 4, -4))
    }
  }
  return forms
}

/** A text as a provider may quote it back: in every spelling at once. */
export function quoteAll(canaries: readonly string[]): string {
  return canaries
    .flatMap((canary) => [
      `(${canary})`,
      JSON.stringify(canary),
      `?key=${encodeURIComponent(canary)}`,
      `Basic ${Buffer.from(`user:${canary}`).toString('base64')}`,
      `Bearer ${Buffer.from(canary).toString('base64')}`,
    ])
    .join(' ')
}
