// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {ERC165} from "@openzeppelin/contracts/utils/introspection/ERC165.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {EnumerableSet} from "@openzeppelin/contracts/utils/structs/EnumerableSet.sol";
import {ITrackerRegistry} from "./ITrackerRegistry.sol";

/// @title The list of trackers a deployment offers
/// @notice Tells by ERC-165 what it is, and so also whether it lists the nodes that may take part.
contract TrackerRegistry is ITrackerRegistry, Ownable2Step, ERC165 {
    using EnumerableSet for EnumerableSet.AddressSet;

    /// @notice Longest URL, in bytes.
    uint256 public constant MAX_URL_BYTES = 256;
    /// @notice Longest metadata, in bytes.
    uint256 public constant MAX_METADATA_BYTES = 1024;

    EnumerableSet.AddressSet private _addresses;
    mapping(address tracker => Tracker) private _trackers;

    /// @param owner who may admit and remove trackers
    constructor(address owner) Ownable(owner) {}

    /// @inheritdoc ITrackerRegistry
    function addTracker(address tracker, string calldata url, string calldata metadata) external onlyOwner {
        if (tracker == address(0)) revert TrackerRegistry__InvalidTracker(tracker);
        if (!_addresses.add(tracker)) revert TrackerRegistry__AlreadyExists(tracker);
        _store(tracker, url, metadata);
        emit TrackerAdded(tracker, url, metadata);
    }

    /// @inheritdoc ITrackerRegistry
    function updateTracker(address tracker, string calldata url, string calldata metadata) external {
        if (msg.sender != tracker && msg.sender != owner()) revert TrackerRegistry__NotPermitted(msg.sender, tracker);
        if (!isTracker(tracker)) revert TrackerRegistry__NotFound(tracker);
        _store(tracker, url, metadata);
        emit TrackerUpdated(tracker, url, metadata);
    }

    /// @inheritdoc ITrackerRegistry
    function removeTracker(address tracker) external onlyOwner {
        if (!_addresses.remove(tracker)) revert TrackerRegistry__NotFound(tracker);
        delete _trackers[tracker];
        emit TrackerRemoved(tracker);
    }

    /// @inheritdoc ITrackerRegistry
    function getTracker(address tracker) external view returns (Tracker memory) {
        if (!isTracker(tracker)) revert TrackerRegistry__NotFound(tracker);
        return _trackers[tracker];
    }

    /// @inheritdoc ITrackerRegistry
    function isTracker(address tracker) public view returns (bool) {
        return _addresses.contains(tracker);
    }

    /// @inheritdoc ITrackerRegistry
    function trackerCount() external view returns (uint256) {
        return _addresses.length();
    }

    /// @inheritdoc ITrackerRegistry
    function listTrackers(uint256 offset, uint256 limit) external view returns (Tracker[] memory page) {
        address[] memory addresses = _addresses.values(offset, Math.saturatingAdd(offset, limit));
        page = new Tracker[](addresses.length);
        for (uint256 i = 0; i < addresses.length; i++) page[i] = _trackers[addresses[i]];
    }

    /// @inheritdoc ERC165
    function supportsInterface(bytes4 interfaceId) public view virtual override returns (bool) {
        return interfaceId == type(ITrackerRegistry).interfaceId || super.supportsInterface(interfaceId);
    }

    function _store(address tracker, string calldata url, string calldata metadata) private {
        uint256 urlBytes = bytes(url).length;
        uint256 metadataBytes = bytes(metadata).length;
        if (urlBytes == 0 || urlBytes > MAX_URL_BYTES) revert TrackerRegistry__InvalidUrl(urlBytes, MAX_URL_BYTES);
        if (metadataBytes > MAX_METADATA_BYTES) revert TrackerRegistry__MetadataTooLong(metadataBytes, MAX_METADATA_BYTES);
        _trackers[tracker] = Tracker(tracker, url, metadata);
    }
}
