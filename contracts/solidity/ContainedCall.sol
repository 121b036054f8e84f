// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @title Reads from a contract that may be hostile, or may not have the function
/// @notice Never deployed: it is run by an `eth_call` without an address, and returns what became of the call in place of code.
/// Whatever the other contract does, this succeeds: so an error of the `eth_call` is the endpoint's, and never the contract's.
contract ContainedCall {
    /// @param target whom to ask
    /// @param gasLimit how much of the gas it may burn
    /// @param data what to ask
    constructor(address target, uint256 gasLimit, bytes memory data) {
        assembly ("memory-safe") {
            // Of what comes back only the first word is copied, however long it is.
            let ok := staticcall(gasLimit, target, add(data, 32), mload(data), 0, 32)
            let word := mload(0)
            let result := mload(0x40)
            mstore(result, ok)
            mstore(add(result, 32), returndatasize())
            mstore(add(result, 64), word)
            return(result, 96)
        }
    }
}
