/**
 * Whether an OpenAPI document is one: Redocly's linter, with its strict rules, on this machine alone.
 *
 * @module
 */
import { createConfig, lintFromString, type RawUniversalConfig } from '@redocly/openapi-core'

/** What differs from the strict rules. */
const config: RawUniversalConfig = {
  extends: ['recommended-strict'],
  rules: {
    // Beyond them: what readers and generated clients live on.
    'component-name-unique': 'error',
    'operation-singular-tag': 'error',
    'operation-tag-defined': 'error',
    'parameter-description': 'error',
    // Unless this is allowed, it takes each part of a composed schema for the whole, and finds all other fields
    // too many. That the examples fit is tested with the host itself.
    'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: true },
    'no-invalid-schema-examples': { severity: 'error', allowAdditionalProperties: true },
  },
}

/**
 * Lints a document.
 *
 * @param exceptions rules that it may break, each with the reason
 * @returns each finding as a line: the rule, the place, and what is wrong there
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
  return findings.map(({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`)
}
