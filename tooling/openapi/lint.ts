/** Lints OpenAPI documents with Redocly's strict rules, without the network. */
import { createConfig, lintFromString, type RawUniversalConfig } from '@redocly/openapi-core'

const config: RawUniversalConfig = {
  extends: ['recommended-strict'],
  rules: {
    // Readers and generated clients need these.
    'component-name-unique': 'error',
    'operation-singular-tag': 'error',
    'operation-tag-defined': 'error',
    'parameter-description': 'error',
    // Otherwise the rule checks an example against each part of a composed schema, and reports the fields of the
    // other parts. The host's own tests check the examples.
    'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: true },
    'no-invalid-schema-examples': { severity: 'error', allowAdditionalProperties: true },
  },
}

/** OpenAPI 3.1 lets schemas have keywords of another vocabulary (contract §8); Redocly knows those of JSON Schema alone. */
const OWN_KEYWORDS = /^Property `(?:order|immutable|sensitive|environmentReference)` is not expected here/

/**
 * Lints a document.
 *
 * @param exceptions rules that are switched off, each with the reason
 * @returns each finding as a line: the rule, the place and the fault
 */
export async function lint(
  document: object,
  exceptions: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const off = Object.keys(exceptions).map((rule) => [rule, 'off'] as const)
  const findings = await lintFromString({
    source: JSON.stringify(document),
    config: await createConfig({ ...config, rules: { ...config.rules, ...Object.fromEntries(off) } }),
  })
  return findings
    .filter(({ message }) => !OWN_KEYWORDS.test(message))
    .map(({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`)
}
