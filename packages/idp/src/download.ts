/**
 * The files for a Node frontend framework that is to use the application.
 *
 * @see https://clerk.com/docs/nextjs/getting-started/quickstart
 * @module
 */
import { type DownloadFile, IntegrationError } from '@org/core'
import type { InstanceKeys } from './keys.ts'

/**
 * The file of one name.
 *
 * @throws {IntegrationError} `invalid_inputs` where a key can't be written into an `.env` file
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

/** Quotes a value so that what reads the file gets it as it was. No real key holds what can't be quoted. */
function quote(name: string, value: string): string {
  // Next.js expands $NAME between any quotes; a backslash at the end would swallow the closing quote.
  if (!/['\\$\p{Cc}]/u.test(value)) return `'${value}'`
  throw new IntegrationError(
    'invalid_inputs',
    `The deployment’s ${name} holds characters that an .env file can’t hold, and that no key has.`,
    { hint: 'Copy the key again, and deploy anew.' },
  )
}

const MIDDLEWARE = `// Runs before your pages and routes, and tells them who is signed in.
// Put it beside the folder \`app\` (or \`pages\`), which may be in \`src\`.
// From Next.js 16 on this file is named \`proxy.ts\`, with the same content; up to 15, \`middleware.ts\`.
import { clerkMiddleware } from '@clerk/nextjs/server'

export default clerkMiddleware()

export const config = {
  matcher: [
    // Everything but Next.js internals and static files, which are told by the ends of their names.
    '/((?!_next/|.*\\\\.(?:html?|css|m?js|map|jpe?g|webp|avif|png|gif|svg|ico|ttf|woff2?|csv|docx?|xlsx?|pdf|zip|webmanifest|txt)$).*)',
    // Always for API routes, and for the provider's own path.
    '/(api|trpc)(.*)',
    '/__clerk/(.*)',
  ],
}
`
