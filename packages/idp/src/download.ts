/**
 * Generates files for a Node frontend framework that uses the application.
 *
 * @see https://clerk.com/docs/nextjs/getting-started/quickstart
 * @see https://clerk.com/docs/reference/nextjs/clerk-middleware for the matcher
 */
import { type DownloadFile, IntegrationError } from '@org/core'
import type { instanceDownloads } from './integration.ts'
import type { InstanceKeys } from './keys.ts'

/**
 * Generates one file.
 *
 * @throws {IntegrationError} `invalid_inputs` for a key that an `.env` file can't hold
 */
export function generateFile(file: (typeof instanceDownloads)[number], keys: InstanceKeys): DownloadFile {
  return file === '.env.local'
    ? { path: file, contentType: 'text/plain; charset=utf-8', content: environmentFile(keys) }
    : { path: file, contentType: 'text/typescript; charset=utf-8', content: MIDDLEWARE }
}

function environmentFile({ publishableKey, secretKey }: InstanceKeys): string {
  const quoted = quote('publishableKey', publishableKey)
  return [
    '# The keys of the identity provider. Keep this file out of version control.',
    // Without a framework, as in a worker.
    `CLERK_PUBLISHABLE_KEY=${quoted}`,
    `NEXT_PUBLIC_CLERK_PUBLISHABLE_KEY=${quoted}`,
    `CLERK_SECRET_KEY=${quote('secretKey', secretKey)}`,
    '',
  ].join('\n')
}

/** Quotes a value. No real key contains a character that can't be quoted. */
function quote(name: string, value: string): string {
  // Next.js expands $NAME between any quotes; a backslash at the end would swallow the closing quote.
  if (!/['\\$\p{Cc}]/u.test(value)) return `'${value}'`
  throw new IntegrationError(
    'invalid_inputs',
    `The deployment’s ${name} contains characters that no key has, and that an .env file can’t hold.`,
    { hint: 'Copy the key again, and redeploy.' },
  )
}

const MIDDLEWARE = `// Runs before your pages and routes, so that they know which user is signed in.
// Put it beside the folder \`app\` (or \`pages\`), which may be in \`src\`.
// Next.js 16 and later name this file \`proxy.ts\`, earlier ones \`middleware.ts\`.
import { clerkMiddleware } from '@clerk/nextjs/server'

export default clerkMiddleware()

export const config = {
  matcher: [
    // Everything except Next.js internals and the files that the provider counts as static.
    '/((?!_next|[^?]*\\\\.(?:html?|css|js(?!on)|jpe?g|webp|png|gif|svg|ttf|woff2?|ico|csv|docx?|xlsx?|zip|webmanifest)).*)',
    // API routes, and the provider's own path.
    '/(api|trpc)(.*)',
    '/__clerk/(.*)',
  ],
}
`
