/**
 * Secrets in texts, in every encoding. Independent of the redactor, so that neither hides a mistake of the other.
 */

/** Finds values in a text: plain, in JSON, in a URL, in a form, or anywhere in base64. */
export function findCanaries(canaries: readonly string[], text: string): string[] {
  return canaries.filter((canary) => spellingsOf(canary).some((spelling) => text.includes(spelling)))
}

function spellingsOf(canary: string): string[] {
  const json = JSON.stringify(canary).slice(1, -1)
  const twice = JSON.stringify(json).slice(1, -1)
  const encoded = ['', '-', '--'].flatMap((before) =>
    (['base64', 'base64url'] as const).map((encoding) =>
      // Without the characters at both ends that depend on the neighbours.
      Buffer.from(before + canary)
        .toString(encoding)
        .slice(before === '' ? 0 : 4, -4),
    ),
  )
  return [canary, json, twice, encodeURIComponent(canary), encodeURI(canary), ...encoded]
}

/** A value in every encoding in which a provider may quote it. */
export const quotesOf = (canary: string): string[] => [
  `(${canary})`,
  JSON.stringify(canary),
  `?key=${encodeURIComponent(canary)}`,
  `Basic ${Buffer.from(`user:${canary}`).toString('base64')}`,
  `Bearer ${Buffer.from(canary).toString('base64')}`,
]
