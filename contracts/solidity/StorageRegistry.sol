// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {EnumerableSet} from "@openzeppelin/contracts/utils/structs/EnumerableSet.sol";
import {IStorageRegistry} from "./IStorageRegistry.sol";
import {IStreamRegistry} from "./IStreamRegistry.sol";

/// @title Storage nodes, and the streams they are asked to keep
contract StorageRegistry is IStorageRegistry {
    using EnumerableSet for EnumerableSet.AddressSet;
    using EnumerableSet for EnumerableSet.Bytes32Set;

    /// @dev The nodes of one generation of a stream: those of an earlier generation are ignored.
    struct Assignments {
        uint64 generation;
        EnumerableSet.AddressSet nodes;
    }

    /// @notice Longest URL, in bytes.
    uint256 public constant MAX_URL_BYTES = 256;
    /// @notice Longest metadata, in bytes.
    uint256 public constant MAX_METADATA_BYTES = 1024;
    /// @notice Most storage nodes of one stream.
    uint256 public constant MAX_NODES_PER_STREAM = 16;

    /// @notice The registry of streams and their permissions.
    IStreamRegistry public immutable streamRegistry;

    EnumerableSet.AddressSet private _addresses;
    mapping(address node => StorageNode) private _nodes;
    mapping(bytes32 streamKey => Assignments) private _assignments;
    mapping(address node => EnumerableSet.Bytes32Set) private _streamKeysOf;

    /// @param streams the registry of streams and their permissions
    constructor(IStreamRegistry streams) {
        if (address(streams).code.length == 0) revert StorageRegistry__InvalidStreamRegistry(address(streams));
        streamRegistry = streams;
    }

    /// @inheritdoc IStorageRegistry
    function registerNode(string calldata url, string calldata metadata) external {
        if (!_addresses.add(msg.sender)) revert StorageRegistry__AlreadyRegistered(msg.sender);
        _store(url, metadata);
        emit StorageNodeRegistered(msg.sender, url, metadata);
    }

    /// @inheritdoc IStorageRegistry
    function updateNode(string calldata url, string calldata metadata) external {
        _requireRegistered(msg.sender);
        _store(url, metadata);
        emit StorageNodeUpdated(msg.sender, url, metadata);
    }

    /// @inheritdoc IStorageRegistry
    function removeNode() external {
        if (!_addresses.remove(msg.sender)) revert StorageRegistry__NotRegistered(msg.sender);
        delete _nodes[msg.sender];
        emit StorageNodeRemoved(msg.sender);
    }

    /// @inheritdoc IStorageRegistry
    function assign(string calldata streamId, address node) external {
        bytes32 key = _requireEdit(streamId);
        _requireRegistered(node);
        prune(streamId);
        EnumerableSet.AddressSet storage nodes = _assignments[key].nodes;
        if (!nodes.add(node)) revert StorageRegistry__AlreadyAssigned(key, node);
        if (nodes.length() > MAX_NODES_PER_STREAM) revert StorageRegistry__TooManyNodes(key, MAX_NODES_PER_STREAM);
        _streamKeysOf[node].add(key);
        emit StreamAssigned(key, node, streamId);
    }

    /// @inheritdoc IStorageRegistry
    function unassign(string calldata streamId, address node) external {
        bytes32 key = msg.sender == node ? _keyOf(streamId) : _requireEdit(streamId);
        if (_isStale(key) || !_assignments[key].nodes.remove(node)) revert StorageRegistry__NotAssigned(key, node);
        _streamKeysOf[node].remove(key);
        emit StreamUnassigned(key, node, streamId);
    }

    /// @inheritdoc IStorageRegistry
    function prune(string calldata streamId) public {
        bytes32 key = _keyOf(streamId);
        if (!_isStale(key)) return;
        Assignments storage assignments = _assignments[key];
        address[] memory nodes = assignments.nodes.values();
        assignments.nodes.clear();
        assignments.generation = streamRegistry.generationOf(key);
        for (uint256 i = 0; i < nodes.length; i++) {
            _streamKeysOf[nodes[i]].remove(key);
            emit StreamUnassigned(key, nodes[i], streamId);
        }
    }

    /// @inheritdoc IStorageRegistry
    function getNode(address node) external view returns (StorageNode memory) {
        _requireRegistered(node);
        return _nodes[node];
    }

    /// @inheritdoc IStorageRegistry
    function isRegistered(address node) public view returns (bool) {
        return _addresses.contains(node);
    }

    /// @inheritdoc IStorageRegistry
    function nodeCount() external view returns (uint256) {
        return _addresses.length();
    }

    /// @inheritdoc IStorageRegistry
    function listNodes(uint256 offset, uint256 limit) external view returns (StorageNode[] memory page) {
        address[] memory addresses = _addresses.values(offset, Math.saturatingAdd(offset, limit));
        page = new StorageNode[](addresses.length);
        for (uint256 i = 0; i < addresses.length; i++) page[i] = _nodes[addresses[i]];
    }

    /// @inheritdoc IStorageRegistry
    function nodesOf(string calldata streamId) external view returns (StorageNode[] memory nodes) {
        bytes32 key = _keyOf(streamId);
        if (_isStale(key)) return nodes;
        address[] memory assigned = _assignments[key].nodes.values();
        uint256 count = 0;
        for (uint256 i = 0; i < assigned.length; i++) {
            if (isRegistered(assigned[i])) assigned[count++] = assigned[i];
        }
        nodes = new StorageNode[](count);
        for (uint256 i = 0; i < count; i++) nodes[i] = _nodes[assigned[i]];
    }

    /// @inheritdoc IStorageRegistry
    function isAssigned(string calldata streamId, address node) external view returns (bool) {
        bytes32 key = _keyOf(streamId);
        return !_isStale(key) && _assignments[key].nodes.contains(node) && isRegistered(node);
    }

    /// @inheritdoc IStorageRegistry
    function streamCountOf(address node) external view returns (uint256) {
        return _streamKeysOf[node].length();
    }

    /// @inheritdoc IStorageRegistry
    function streamsOf(address node, uint256 offset, uint256 limit) external view returns (string[] memory streamIds) {
        bytes32[] memory keys = _streamKeysOf[node].values(offset, Math.saturatingAdd(offset, limit));
        uint256 count = 0;
        for (uint256 i = 0; i < keys.length; i++) {
            if (!_isStale(keys[i])) keys[count++] = keys[i];
        }
        streamIds = new string[](count);
        for (uint256 i = 0; i < count; i++) streamIds[i] = streamRegistry.streamIdOf(keys[i]);
    }

    function _store(string calldata url, string calldata metadata) private {
        uint256 urlBytes = bytes(url).length;
        uint256 metadataBytes = bytes(metadata).length;
        if (urlBytes == 0 || urlBytes > MAX_URL_BYTES) revert StorageRegistry__InvalidUrl(urlBytes, MAX_URL_BYTES);
        if (metadataBytes > MAX_METADATA_BYTES) revert StorageRegistry__MetadataTooLong(metadataBytes, MAX_METADATA_BYTES);
        _nodes[msg.sender] = StorageNode(msg.sender, url, metadata);
    }

    function _requireRegistered(address node) private view {
        if (!isRegistered(node)) revert StorageRegistry__NotRegistered(node);
    }

    /// @dev The key of a stream that exists and that the caller may edit.
    function _requireEdit(string calldata streamId) private view returns (bytes32 key) {
        key = _keyOf(streamId);
        if (!streamRegistry.exists(streamId)) revert StorageRegistry__StreamNotFound(streamId);
        if (!streamRegistry.hasPermission(streamId, msg.sender, IStreamRegistry.Permission.Edit)) {
            revert StorageRegistry__NotPermitted(key, msg.sender);
        }
    }

    /// @dev Whether the stream the assignments were made for has been deleted since.
    function _isStale(bytes32 key) private view returns (bool) {
        return _assignments[key].generation != streamRegistry.generationOf(key);
    }

    function _keyOf(string calldata streamId) private pure returns (bytes32) {
        return keccak256(bytes(streamId));
    }
}
