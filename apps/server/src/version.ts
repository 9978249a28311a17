import packageJson from '../package.json' with { type: 'json' }

/** The build writes the commit in its place. */
declare const REVISION: string | undefined

/** The version of the host, as it was when the host was built. */
export const { version } = packageJson
/** The commit that the host was built from. */
export const revision = typeof REVISION === 'string' ? REVISION : 'unknown'
