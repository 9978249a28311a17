/**
 * The rule for URLs that deployments bring, on Workers (contract §6).
 *
 * @module
 */
import { type Egress } from '@org/core'
import { namedHostsOnly } from '@org/core/internal'
import { createEgressRule, type EgressRuleOptions } from './egress-rule.ts'

/**
 * Makes the rule: `https` to named hosts, and what the operator exempts. A Worker can't see the address behind a
 * name; it does not run in the operator's network, so none of its private addresses is within reach.
 *
 * @param send makes the calls
 */
export function createWorkerEgress(options: EgressRuleOptions, send: typeof fetch): Egress {
  const { isExempt } = createEgressRule(options)
  const named = namedHostsOnly(send)
  return { ...named, refuse: (url) => (isExempt(url) ? undefined : named.refuse(url)) }
}
