/**
 * Finds secrets in texts, in every encoding.
 */

/** Finds values in a text: plain, in JSON, in a URL, in a form, or anywhere in base64. */
export function findCanaries(canaries: readonly string[], text: string): string[] {
  return canaries.filter((canary) => spellings(canary).some((spelling) => text.includes(spelling)))
}

/** Independent of the redactor, so that neither hides a mistake of the other. */
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
      // Without the characters at both ends that depend on the neighbours.
      forms.push(encoded.slice(around === '' ? 0 : 4, -4))
    }
  }
  return forms
}

/** Values in every encoding in which a provider may quote them. */
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
