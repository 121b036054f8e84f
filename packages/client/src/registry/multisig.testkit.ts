import { toHex, toNodeId, type NodeId } from '@runnel/protocol'
import { concat, ContractFactory, getBytes, Wallet, type BaseContract, type BytesLike } from 'ethers'
import { compileTestContract } from '../../../../contracts/scripts/compile.ts'
import type { Signer } from '../identity/signer.ts'
import { mined } from './chain.testkit.ts'
import { hashOfTypedData } from './chain/hash-of-typed-data.ts'

const { abi, bytecode } = compileTestContract('test/TestMultisig.sol', 'TestMultisig')

type Owner = Pick<Wallet, 'address' | 'signingKey'>

/** An account on the test chain that two of its three owners sign for. */
export interface Multisig {
  readonly nodeId: NodeId
  /** Two of them; the third is who deployed it. */
  readonly owners: readonly [Owner, Owner]
  /** The newest block after its deployment. */
  readonly block: number
  removeOwner(owner: Pick<Owner, 'address'>): Promise<void>
  /** A call of another contract in its name. */
  execute(target: Pick<BaseContract, 'target'>, data: string): Promise<void>
}

/** `deployer` has money. */
export async function deployMultisig(deployer: Wallet): Promise<Multisig> {
  const owners = [Wallet.createRandom(), Wallet.createRandom()] as const
  const addresses = [...owners, deployer].map(({ address }) => address)
  const account = await new ContractFactory(abi, bytecode, deployer).deploy(addresses, 2)
  const receipt = await account.deploymentTransaction()?.wait()
  return {
    nodeId: toNodeId(String(account.target)),
    owners,
    block: receipt?.blockNumber ?? 0,
    removeOwner: ({ address }) => mined(account.getFunction('removeOwner').send(address)),
    execute: ({ target }, data) => mined(account.getFunction('execute').send(target, data)),
  }
}

/** What owners sign together: their signatures stand in the order of their addresses. */
export function jointSignature(owners: readonly Owner[], digest: BytesLike): Uint8Array {
  const ordered = owners.toSorted((a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1))
  return getBytes(concat(ordered.map(({ signingKey }) => signingKey.sign(digest).serialized)))
}

/** Signs as the account, with the owners that are given. It sends no transactions. */
export function multisigSigner({ nodeId }: Pick<Multisig, 'nodeId'>, owners: readonly Owner[]): Signer {
  return {
    address: () => Promise.resolve(nodeId),
    signTypedData: (data) => Promise.resolve(toHex(jointSignature(owners, hashOfTypedData(data)))),
    sendTransaction: () => Promise.reject(new Error('The account sends no transactions here')),
  }
}
