/** The import rules of docs/architecture.md, for dependency-cruiser. */

import type { ICruiseOptions, IForbiddenRuleType } from 'dependency-cruiser'

/** Packages as pnpm stores them, or as a file names one that is not installed. */
const npm = (...names: string[]) => `(^|node_modules/)(${names.join('|')})(/|$)`
const core = '^packages/core/src/'
const publicCore = `${core}(?!host\\.ts$)`

/** The files may import their own package and these, and nothing else. */
const only = (
  name: string,
  files: string | IForbiddenRuleType['from'],
  ...allowed: string[]
): IForbiddenRuleType => ({
  name,
  comment: 'docs/architecture.md lists what each package may import.',
  severity: 'error',
  from: typeof files === 'string' ? { path: files } : files,
  to: { pathNot: allowed },
})

/** The files must not load these, directly or through other files. */
const never = (name: string, path: string, to: string | string[], comment: string): IForbiddenRuleType => ({
  name,
  comment,
  severity: 'error',
  from: { path },
  to: { path: to, reachable: true },
})

/** The folder of core must not import these folders, which stand below it. */
const above = (folder: string, ...others: string[]): IForbiddenRuleType => ({
  name: `core-${folder}`,
  comment: 'The folders of core import only those above them.',
  severity: 'error',
  from: { path: `${core}${folder}/` },
  to: { path: `${core}(${others.join('|')})/` },
})

export const forbidden: IForbiddenRuleType[] = [
  { name: 'circle', severity: 'error', from: {}, to: { circular: true } },
  {
    name: 'undeclared',
    comment: 'Who installs a package gets its dependencies, and no devDependencies.',
    severity: 'error',
    from: { path: '^packages/[^/]+/src/' },
    to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm', 'npm-peer', 'npm-optional'] },
  },
  only('index', '^packages/([^/]+)/src/index\\.ts$', '^packages/$1/src/', core),
  only(
    'core',
    { path: core, pathNot: `${core}(delivery/stores/|testing/serve\\.ts)` },
    core,
    npm('zod', 'vitest'),
  ),
  only(
    'platform-client',
    '^packages/platform-client/src/',
    '^packages/platform-client/src/',
    publicCore,
    npm('zod', 'ky'),
  ),
  only(
    'testing',
    '^packages/(?!core/)([^/]+)/src/testing/',
    '^packages/$1/src/',
    '^packages/(core|idp)/src/testing/(index|emulators)\\.ts$',
    npm('zod'),
  ),
  only('idp-server', '^packages/idp-server/src/', '^packages/(idp-server|idp)/src/', publicCore, npm('zod')),
  only(
    'integration',
    '^packages/(?!core/|platform-client/|idp-server/)([^/]+)/src/',
    '^packages/$1/src/',
    publicCore,
    npm('zod'),
  ),
  {
    ...only('server', '^apps/server/src/'),
    to: { path: ['^packages/(?!core/|platform-client/)[^/]+/src/(?!webhook\\.ts$)', npm('ky')] },
    // Its check of the default sender, without the webhook: a host loads integrations after its start.
    from: { path: '^apps/server/src/', pathNot: '^apps/server/src/variables\\.ts$' },
  },
  {
    ...only('sandbox', '^apps/sandbox/src/'),
    to: {
      path: [
        '^packages/(?!core/)[^/]+/src/(?!testing/index\\.ts$)',
        '^apps/server/src/(?!(host|samples)\\.ts$)',
      ],
    },
  },
  never(
    'sdk-without-zod',
    '^packages/mailer/src/(testing/)?index\\.ts$',
    [npm('zod'), '^packages/mailer/src/(integration|deployment|functions|connection)\\.ts$'],
    'An SDK and its emulator load without the webhook and without zod.',
  ),
  never(
    'sdk-without-webhook',
    '^packages/[^/]+/src/index\\.ts$',
    '^packages/[^/]+/src/webhook\\.ts$',
    'An SDK loads without the webhook.',
  ),
  never(
    'wire',
    '^packages/[^/]+/src/wire\\.ts$',
    '/src/client\\.ts$',
    'The wire format does not know its client.',
  ),
  never('emulators', '^packages/[^/]+/src/(?!testing/)', '/src/testing/', 'Emulators are for tests.'),
  never(
    'worker',
    '^apps/server/src/.*worker\\.ts$',
    npm('@hono/node-server', 'undici'),
    'It runs on Workers, and these on Node alone.',
  ),
  {
    ...above('.'),
    name: 'core-root',
    from: { path: `${core}[^/]+\\.ts$`, pathNot: `${core}(index|authoring|hosting|host)\\.ts$` },
    to: { path: `${core}[^/]+/` },
  },
  above('contract', 'request', 'delivery', 'http', 'pipeline', 'openapi', 'testing'),
  above('request', 'delivery', 'http', 'pipeline', 'openapi', 'testing'),
  above('delivery', 'http', 'pipeline', 'openapi', 'testing'),
  above('http', 'request', 'delivery', 'pipeline', 'openapi', 'testing'),
  above('pipeline', 'openapi', 'testing'),
  above('openapi', 'testing'),
]

export const options: ICruiseOptions = {
  doNotFollow: { path: 'node_modules' },
  tsPreCompilationDeps: true,
  enhancedResolveOptions: {
    conditionNames: ['@org/source', 'import', 'node', 'default'],
    exportsFields: ['exports'],
    extensions: ['.ts', '.js'],
  },
}
