/** Signs the generator's events; every server that verifies them knows it. */
export const webhookSecret = `whsec_${Buffer.from('a secret of a benchmark, 32 byte').toString('base64')}`

/** The variables of a host in production, which calls no provider and no platform. */
export const hostEnvironment = {
  NODE_ENV: 'production',
  PLATFORM_API_URL: 'http://127.0.0.1:9',
  PLATFORM_WEBHOOK_SECRET: webhookSecret,
  CORS_ORIGINS: 'https://app.example.com',
  DELIVERY_STORE: 'memory:',
}
