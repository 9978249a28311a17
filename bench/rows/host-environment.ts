/** Signs what the generator sends, and is known to every server that verifies. */
export const webhookSecret = `whsec_${Buffer.from('a secret of a benchmark, 32 byte').toString('base64')}`

/** The host as it runs in production, with providers and a platform that nobody asks. */
export const hostEnvironment = {
  NODE_ENV: 'production',
  PLATFORM_API_URL: 'http://127.0.0.1:9',
  PLATFORM_WEBHOOK_SECRET: webhookSecret,
  CORS_ORIGINS: 'https://app.example.com',
  DELIVERY_STORE: 'memory:',
} as const
