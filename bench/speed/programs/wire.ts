export const userId = 'user_2abcdefghijklmnopqrstuvwxyz'
export const messageId = 'b7bc2f4a-e38e-4336-af7d-e6c392c2f817'
export const text = 'It is on its way. '.repeat(10)

export const toWireMail = (to: string) => ({
  From: 'Shop <shop@example.com>',
  To: to,
  Subject: 'Your order',
  TextBody: text,
  MessageStream: 'outbound',
})

export const acceptanceOf = (mail: { To?: unknown }) => ({
  To: mail.To,
  SubmittedAt: '2026-11-20T09:00:00.4178645-05:00',
  MessageID: messageId,
  ErrorCode: 0,
  Message: 'OK',
})
