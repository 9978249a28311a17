const { sendRequired } = require('./required.cjs')

it('sends a mail in Jest as it is configured by default', async () => {
  await expect(sendRequired()).resolves.toMatchObject({ sent: 1, code: 'invalid_arguments', isKnown: true })
})
