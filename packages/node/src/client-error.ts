import { clientErrors } from '@runnel/client'
import { errorFactory } from '@runnel/protocol'

/** Errors a command finds by itself that the client has a code for. */
export const clientError = errorFactory(clientErrors)
