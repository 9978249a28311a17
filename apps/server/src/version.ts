import packageJson from '../package.json' with { type: 'json' }

/** The version of the host, as it was when the host was built. */
export const { version } = packageJson
