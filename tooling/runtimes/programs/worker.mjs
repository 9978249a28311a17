import * as core from '@org/core'
import * as mailer from '@org/mailer'
import * as webhook from '@org/mailer/webhook'
import * as platformClient from '@org/platform-client'
import { exercise } from './exercise.ts'

export default {
  async fetch(request) {
    return Response.json(await exercise({ core, mailer, webhook, platformClient }, await request.json()))
  },
}
