/**
 * Generates files for a Node frontend framework that uses the application.
 *
 * @see https://clerk.com/docs/nextjs/getting-started/quickstart
 */
import { type DownloadFile, IntegrationError } from '@org/core'
import type { InstanceKeys } from './keys.ts'

/**
 * Generates one file.
 *
 * @throws {IntegrationError} `invalid_inputs` for a key that an `.env` file can't hold
 */
export function generateFile(file: '.env.local' | 'middleware.ts', keys: InstanceKeys): DownloadFile {
  return file === '.env.local'
    ? { path: file, contentType: 'text/plain; charset=utf-8', content: environmentFile(keys) }
    : { path: file, contentType: 'text/typescript; charset=utf-8', content: MIDDLEWARE }
}

function environmentFile({ publishableKey, secretKey }: InstanceKeys): string {
  return [
    '# The keys of the identity provider. Keep this file out of version control.',
    `NEXT_PUBLIC_CLERK_PUBLISHABLE_KEY=${quote('publishableKey', publishableKey)}`,
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
// Next.js 16 and later name this file \`proxy.ts\`, with the same content.
import { clerkMiddleware } from '@clerk/nextjs/server'

export default clerkMiddleware()

export const config = {
  matcher: [
    // Everything except Next.js internals and static files, recognized by their extensions.
    '/((?!_next/|.*\\\\.(?:html?|css|m?js|map|jpe?g|webp|avif|png|gif|svg|ico|ttf|woff2?|csv|docx?|xlsx?|pdf|zip|webmanifest|txt)$).*)',
    // API routes, and the provider's own path.
    '/(api|trpc)(.*)',
    '/__clerk/(.*)',
  ],
}
`
