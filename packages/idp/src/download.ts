/**
 * The files for a Node frontend framework that is to use the application.
 *
 * @see https://clerk.com/docs/nextjs/getting-started/quickstart
 * @module
 */
import { type DownloadFile, IntegrationError } from '@org/core'

/** The keys that the files are made of. */
export interface InstanceKeys {
  publishableKey: string
  secretKey: string
}

/** The file of one name. */
export function generateFile(file: '.env.local' | 'middleware.ts', keys: InstanceKeys): DownloadFile {
  return file === '.env.local'
    ? { path: file, contentType: 'text/plain; charset=utf-8', content: environmentFile(keys) }
    : { path: file, contentType: 'text/typescript; charset=utf-8', content: MIDDLEWARE }
}

function environmentFile({ publishableKey, secretKey }: InstanceKeys): string {
  return [
    '# The keys of the identity provider. Keep this file out of version control.',
    `NEXT_PUBLIC_CLERK_PUBLISHABLE_KEY=${quote(publishableKey)}`,
    `CLERK_SECRET_KEY=${quote(secretKey)}`,
    '',
  ].join('\n')
}

/** Quotes a value so that a dotenv parser gives it back as it was: with a quote that is not in it. */
function quote(value: string): string {
  // Between double quotes, \n and \r would become line breaks; so those come last.
  const mark = ["'", '`', '"'].find((candidate) => !value.includes(candidate))
  if (mark === undefined || /[\r\n]/.test(value) || (mark === '"' && value.includes('\\'))) {
    throw new IntegrationError('invalid_inputs', 'A key holds characters that no .env file can hold.')
  }
  return `${mark}${value}${mark}`
}

const MIDDLEWARE = `// Runs before your pages and routes, and tells them who is signed in.
// Put it beside the folder \`app\` (or \`pages\`), which may be in \`src\`.
// From Next.js 16 on this file is named \`proxy.ts\`, with the same content; up to 15, \`middleware.ts\`.
import { clerkMiddleware } from '@clerk/nextjs/server'

export default clerkMiddleware()

export const config = {
  matcher: [
    // Everything but Next.js internals and static files.
    '/((?!_next/|[^?]*\\\\.(?:html?|css|js(?!on)|mjs|map|jpe?g|webp|avif|png|gif|svg|ico|ttf|woff2?|csv|docx?|xlsx?|pdf|zip|webmanifest|txt)(?:$|\\\\?)).*)',
    // Always for API routes, and for the provider's own path.
    '/(api|trpc)(.*)',
    '/__clerk/(.*)',
  ],
}
`
