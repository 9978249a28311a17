// Answers /email and /email/batch after a delay, as a process of its own, so that its work is not counted.
import { createServer } from 'node:http'

const delayMs = Number(process.argv[2])
const answer = ({ To }) => ({
  To,
  SubmittedAt: '2026-11-20T09:00:00.4178645-05:00',
  MessageID: 'b7bc2f4a-e38e-4336-af7d-e6c392c2f817',
  ErrorCode: 0,
  Message: 'OK',
})

const server = createServer((request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks))
    const text = JSON.stringify(Array.isArray(body) ? body.map(answer) : answer(body))
    const reply = () => {
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      })
      response.end(text)
    }
    if (delayMs > 0) setTimeout(reply, delayMs)
    else reply()
  })
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
