// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @title An account that answers in ways no account should, for tests
/// @notice The first byte of the signature says how.
contract HostileAccount {
    function isValidSignature(bytes32, bytes calldata signature) external view returns (bytes4) {
        bytes1 how = signature[0];
        if (how == 0x01) while (gasleft() > 0) {}
        if (how == 0x02) revert("no");
        assembly {
            // The right word, and a lot behind it.
            mstore(0, 0x1626ba7e00000000000000000000000000000000000000000000000000000000)
            if eq(how, shl(248, 3)) { return(0, 200000) }
            // The right four bytes and no word.
            if eq(how, shl(248, 4)) { return(0, 4) }
            // The right bytes, and others in the same word.
            mstore8(31, 1)
            return(0, 32)
        }
    }
}
