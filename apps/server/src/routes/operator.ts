/** The routes for operators, which want `Authorization: Bearer <OPERATOR_TOKEN>` (contract §3). */
import { createHash, timingSafeEqual } from 'node:crypto'
import { IntegrationError } from '@org/core/errors'
import { toProblemResponse } from '@org/core/internal/host'
import type { Config } from '../config.ts'
import type { Route } from './route.ts'

/**
 * Guards routes with the token of the operator. Without a token, those that only read are open in development, and all
 * others absent.
 *
 * @param onRefused is told of each request without the token
 */
export function forOperators(
  routes: readonly Route[],
  { operatorToken, production }: Pick<Config, 'operatorToken' | 'production'>,
  onRefused: (route: Route, request: Request) => void,
): Route[] {
  if (operatorToken === undefined)
    return routes.flatMap((route) => (production || route.method ? [] : { ...route, operator: 'open' }))
  const expected = digest(`Bearer ${operatorToken}`)
  return routes.map((route) => ({
    ...route,
    operator: 'token',
    handle(context) {
      const given = digest((context.req.header('authorization') ?? '').replace(/^bearer /i, 'Bearer '))
      if (timingSafeEqual(given, expected)) return route.handle(context)
      onRefused(route, context.req.raw)
      const message = 'This route is for operators. Send the header Authorization: Bearer <OPERATOR_TOKEN>.'
      const response = toProblemResponse(new IntegrationError('invalid_signature', message))
      response.headers.set('www-authenticate', 'Bearer')
      return response
    },
  }))
}

// All digests have one length, so the comparison tells nothing of the token.
const digest = (text: string) => createHash('sha256').update(text).digest()
