/** The import rules of docs/architecture.md, for dependency-cruiser. */
import type { ICruiseOptions, IForbiddenRuleType } from 'dependency-cruiser'

/** Packages as pnpm stores them, or as a file names one that is not installed. */
const npm = (...names: string[]) => `(^|node_modules/)(${names.join('|')})(/|$)`
const core = '^packages/core/src/'

type Rule = IForbiddenRuleType
const rule = <To>(name: string, from: Rule['from'], to: To) => {
  const severity = 'error' as const
  return { name, severity, from, to }
}
/** The files may import these, and nothing else. */
const only = (name: string, from: Rule['from'], ...allowed: string[]) =>
  rule(name, from, { pathNot: allowed })
/** The files must not import these. */
const not = (name: string, from: Rule['from'], ...path: string[]) => rule(name, from, { path })
/** The files must not load these, directly or through other files. */
const never = (name: string, path: string, ...to: string[]) =>
  rule(name, { path }, { path: to, reachable: true })

/** The folders of core: each imports only those before it. */
const folders = ['contract', 'request', 'delivery', 'http', 'pipeline', 'openapi', 'testing']

export const forbidden: Rule[] = [
  rule('circle', {}, { circular: true }),
  // Who installs a package gets its dependencies, and no devDependencies.
  {
    name: 'undeclared',
    severity: 'error',
    from: { path: '^packages/[^/]+/src/' },
    to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm', 'npm-peer', 'npm-optional'] },
  },
  only(
    'core',
    { path: core, pathNot: `${core}(delivery/stores/|testing/serve\\.ts)` },
    core,
    npm('zod', 'vitest'),
  ),
  only(
    'package',
    { path: '^packages/(?!core/|idp-server/)([^/]+)/src/' },
    ...['^packages/$1/src/', `${core}(?!host\\.ts$)`, npm('zod', 'ky')],
  ),
  only(
    'idp-server',
    { path: '^packages/idp-server/src/' },
    ...['^packages/(idp-server|idp)/src/', `${core}(?!host\\.ts$)`, npm('zod')],
  ),
  not(
    'server',
    // Its check of the default sender, without the webhook: a host loads integrations after its start.
    { path: '^apps/server/src/', pathNot: '^apps/server/src/variables\\.ts$' },
    ...['^packages/(?!core/|platform-client/)[^/]+/src/(?!webhook\\.ts$)', npm('ky')],
  ),
  not(
    'sandbox',
    { path: '^apps/sandbox/src/' },
    '^packages/(?!core/)[^/]+/src/(?!testing/index\\.ts$)',
    '^apps/server/src/(?!(host|samples)\\.ts$)',
  ),
  never(
    'sdk-without-zod',
    '^packages/mailer/src/(testing/)?index\\.ts$',
    ...[npm('zod'), '^packages/mailer/src/(integration|deployment|functions|connection)\\.ts$'],
  ),
  never('sdk-without-webhook', '^packages/[^/]+/src/index\\.ts$', '^packages/[^/]+/src/webhook\\.ts$'),
  never('wire', '^packages/[^/]+/src/wire\\.ts$', '/src/client\\.ts$'),
  never('emulators', '^packages/[^/]+/src/(?!testing/)', '/src/testing/'),
  never('worker', '^apps/server/src/.*worker\\.ts$', npm('@hono/node-server', 'undici')),
  not(
    'core-root',
    { path: `${core}[^/]+\\.ts$`, pathNot: `${core}(index|authoring|hosting|host)\\.ts$` },
    `${core}[^/]+/`,
  ),
  not('core-http', { path: `${core}http/` }, `${core}(request|delivery)/`),
  ...folders
    .slice(0, -1)
    .map((folder, at) =>
      not(`core-${folder}`, { path: `${core}${folder}/` }, `${core}(${folders.slice(at + 1).join('|')})/`),
    ),
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
