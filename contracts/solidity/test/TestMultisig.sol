// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";

/// @title An account of several owners, for tests
/// @notice A signature of it is those of enough of its owners over the digest, ordered by their addresses. What the account does
/// each of its owners may have it do.
contract TestMultisig is IERC1271 {
    uint256 private constant SIGNATURE_BYTES = 65;

    uint256 public immutable threshold;
    mapping(address owner => bool) public isOwner;

    error TestMultisig__NotOwner(address caller);

    constructor(address[] memory owners, uint256 needed) {
        threshold = needed;
        for (uint256 i = 0; i < owners.length; i++) isOwner[owners[i]] = true;
    }

    function removeOwner(address owner) external {
        _requireOwner();
        isOwner[owner] = false;
    }

    function execute(address target, bytes calldata data) external {
        _requireOwner();
        (bool ok, bytes memory reason) = target.call(data);
        if (ok) return;
        assembly {
            revert(add(reason, 32), mload(reason))
        }
    }

    /// @inheritdoc IERC1271
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        uint256 signers = 0;
        address last = address(0);
        for (uint256 i = 0; i + SIGNATURE_BYTES <= signature.length; i += SIGNATURE_BYTES) {
            (address signer, ECDSA.RecoverError problem,) = ECDSA.tryRecover(digest, signature[i:i + SIGNATURE_BYTES]);
            if (problem != ECDSA.RecoverError.NoError || signer <= last || !isOwner[signer]) return 0xffffffff;
            last = signer;
            signers++;
        }
        return signers >= threshold ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }

    function _requireOwner() private view {
        if (!isOwner[msg.sender]) revert TestMultisig__NotOwner(msg.sender);
    }
}
